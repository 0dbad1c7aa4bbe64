//! Digests of parameter files: blake2b-512, the first 16 bytes in hex, as parameters.json has them.

use std::io::{self, Read, Write};

use blake2b_simd::State;

use super::progress::{Progress, Report, Stage};

/// Hex digits of a digest.
pub const DIGEST_HEX: usize = 32;

/// Bytes read at once: a few reports a second, and nothing against the page cache.
const BLOCK: usize = 4 << 20;

/// Digest of bytes in memory.
pub fn of_bytes(bytes: &[u8]) -> String {
    truncated(blake2b_simd::State::new().update(bytes))
}

/// Digest of all that `reader` gives, `total` bytes being expected: about one second per GB.
///
/// # Errors
/// Those of the reader.
pub fn of_reader(mut reader: impl Read, total: u64, report: &Report) -> io::Result<String> {
    let mut state = State::new();
    let mut block = vec![0; BLOCK];
    let mut done = 0;
    loop {
        report(Progress::Work { stage: Stage::Hashing, done, total });
        match reader.read(&mut block) {
            Ok(0) => return Ok(truncated(&state)),
            Ok(n) => {
                state.update(&block[..n]);
                done += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// Passes writes on and digests them.
pub struct HashingWriter<W> {
    inner: W,
    state: State,
}

impl<W: Write> HashingWriter<W> {
    pub fn new(inner: W) -> Self {
        Self { inner, state: State::new() }
    }

    /// The inner writer and the digest of what was written.
    pub fn finish(self) -> (W, String) {
        (self.inner, truncated(&self.state))
    }
}

impl<W: Write> Write for HashingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.state.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn truncated(state: &State) -> String {
    let mut hex = state.finalize().to_hex().to_string();
    hex.truncate(DIGEST_HEX);
    hex
}

#[cfg(test)]
mod tests {
    use super::super::progress::silent;
    use super::*;

    #[test]
    fn digests_agree_and_are_blake2b_512() {
        // RFC 7693, appendix A.
        assert_eq!(of_bytes(b"abc"), "ba80a53f981c4d0d6a2797b69f12f6e9");
        let bytes: Vec<u8> = (0..100_000u32).map(|i| i as u8).collect();
        assert_eq!(of_reader(&bytes[..], 0, &silent).unwrap(), of_bytes(&bytes));
        let mut writer = HashingWriter::new(Vec::new());
        writer.write_all(&bytes[..77]).unwrap();
        writer.write_all(&bytes[77..]).unwrap();
        let (written, digest) = writer.finish();
        assert_eq!((written, digest), (bytes.clone(), of_bytes(&bytes)));
    }
}
