//! The official parameter files and their digests: filecoin-proofs' parameters.json.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use storage_proofs_core::parameter_cache::PARAMETERS;

/// What is known of one official file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfficialFile {
    /// See [`super::digest`].
    pub digest: String,
    pub sector_bytes: u64,
}

/// Official files by name.
pub struct Catalogue {
    files: BTreeMap<String, OfficialFile>,
}

impl Catalogue {
    /// The files of parameters.json.
    pub fn official() -> &'static Self {
        static OFFICIAL: OnceLock<Catalogue> = OnceLock::new();
        OFFICIAL.get_or_init(|| {
            Self::new(PARAMETERS.iter().map(|(name, data)| {
                (name.clone(), OfficialFile { digest: data.digest.clone(), sector_bytes: data.sector_size })
            }))
        })
    }

    pub(super) fn new(files: impl IntoIterator<Item = (String, OfficialFile)>) -> Self {
        Self { files: files.into_iter().collect() }
    }

    /// The official file of this name.
    pub fn get(&self, name: &str) -> Option<&OfficialFile> {
        self.files.get(name)
    }

    /// Names and files of the parameters of PoRep circuits, by sector size.
    pub fn porep_params(&self) -> Vec<(&str, &OfficialFile)> {
        let mut files: Vec<_> = self
            .files
            .iter()
            .filter(|(name, _)| name.contains("-stacked-proof-of-replication-") && name.ends_with(".params"))
            .map(|(name, file)| (name.as_str(), file))
            .collect();
        files.sort_by_key(|(_, file)| file.sector_bytes);
        files
    }
}

#[cfg(test)]
mod tests {
    use super::super::digest::DIGEST_HEX;
    use super::*;

    #[test]
    fn every_porep_size_has_parameters_and_a_verifying_key() {
        let catalogue = Catalogue::official();
        let files = catalogue.porep_params();
        let sizes: Vec<u64> = files.iter().map(|(_, file)| file.sector_bytes).collect();
        assert_eq!(sizes, [2 << 10, 8 << 20, 512 << 20, 32 << 30, 64 << 30]);
        for (name, file) in files {
            let vk = catalogue.get(&name.replace(".params", ".vk")).unwrap();
            assert_eq!(vk.sector_bytes, file.sector_bytes);
            assert_eq!((file.digest.len(), vk.digest.len()), (DIGEST_HEX, DIGEST_HEX));
        }
    }
}
