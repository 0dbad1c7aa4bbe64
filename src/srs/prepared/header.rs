//! A prepared file's first page: a line of text, then JSON, filled up with zeros.

use serde::{Deserialize, Serialize};

use super::PAGE;
use crate::backend::bases::Form;

/// How the file begins.
const MAGIC: &[u8] = b"cuzk prepared parameters\n";

/// The format; another number is another format.
const VERSION: u32 = 1;

/// The parameter file that a prepared one was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Original {
    pub name: String,
    pub bytes: u64,
    pub digest: String,
}

/// What the header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub form: Form,
    pub original: Original,
    /// Of all behind the header.
    pub digest: String,
}

#[derive(Serialize, Deserialize)]
struct Text {
    version: u32,
    form: String,
    original: Original,
    points_digest: String,
}

/// What every version has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl Header {
    /// The page.
    ///
    /// # Errors
    /// A name that is too long for it.
    pub fn page(&self) -> Result<[u8; PAGE], String> {
        let Self { form, original, digest } = self.clone();
        let text = Text { version: VERSION, form: form.word().into(), original, points_digest: digest };
        let text = serde_json::to_vec(&text).map_err(|error| error.to_string())?;
        let mut page = [0; PAGE];
        let (magic, rest) = page.split_at_mut(MAGIC.len());
        magic.copy_from_slice(MAGIC);
        let place = rest.get_mut(..text.len()).ok_or_else(|| format!("a header of {} bytes", text.len()))?;
        place.copy_from_slice(&text);
        Ok(page)
    }

    /// Reads the header of a file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(file: &[u8]) -> Result<Self, String> {
        if !begins(file) {
            return Err("no prepared parameter file".into());
        }
        let Some(page) = file.get(..PAGE) else {
            return Err(format!("truncated: {} bytes, and its header has {PAGE}", file.len()));
        };
        let text = &page[MAGIC.len()..];
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        let damaged = |error: serde_json::Error| format!("its header is damaged: {error}");
        let Version { version } = serde_json::from_slice(text).map_err(damaged)?;
        if version != VERSION {
            return Err(format!("of version {version}, and this cuzk reads version {VERSION}"));
        }
        let Text { form, original, points_digest, .. } = serde_json::from_slice(text).map_err(damaged)?;
        let form = Form::of_word(&form).ok_or_else(|| format!("its header is damaged: no form is called {form:?}"))?;
        let header = Self { form, original, digest: points_digest };
        if header.page()?[..] != *page {
            return Err("its header is damaged: it is not as it was written".into());
        }
        Ok(header)
    }

    /// # Errors
    /// It was made from another file, and from which.
    pub fn check(&self, expected: &Original) -> Result<(), String> {
        let of = |original: &Original| {
            let Original { name, bytes, digest } = original;
            format!("{name} of {bytes} bytes with digest {digest}")
        };
        match self.original == *expected {
            true => Ok(()),
            false => Err(format!("made from another file: from {}, not from {}", of(&self.original), of(expected))),
        }
    }
}

/// Whether a file that begins so is, or was to be, a prepared one.
pub(super) fn begins(file: &[u8]) -> bool {
    file.starts_with(MAGIC)
}

/// Bytes that [`begins`] looks at.
pub(super) const MAGIC_BYTES: usize = MAGIC.len();
