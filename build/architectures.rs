//! Which GPU architectures the kernels are compiled for. A compute capability is written as one number, 75 for 7.5.

/// The architectures that cuzk is written for.
pub const SUPPORTED: &[u32] = &[75, 80, 86, 89, 90, 100, 120];

/// What is compiled where [`VARIABLE`] does not say: machine code for 8.x (8.6 and 8.9 run what is compiled for 8.0) and 9.0;
/// later ones compile the PTX when they load it.
pub const DEFAULT: &[u32] = &[80, 90];

/// Names the architectures: `all`, `none`, or a list as in `8.6,9.0`.
pub const VARIABLE: &str = "CUZK_CUDA_ARCH";

/// What one build compiles for, never empty, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Architectures(Vec<u32>);

impl Architectures {
    /// Those that get machine code.
    pub fn machine_code(&self) -> &[u32] {
        &self.0
    }

    /// The one that gets PTX: the newest, so that every later card can run it.
    pub fn ptx(&self) -> u32 {
        self.0[self.0.len() - 1]
    }

    /// nvcc's arguments.
    pub fn arguments(&self) -> Vec<String> {
        let machine_code = self.0.iter().map(|arch| format!("-gencode=arch=compute_{arch},code=sm_{arch}"));
        let ptx = format!("-gencode=arch=compute_{0},code=compute_{0}", self.ptx());
        machine_code.chain([ptx]).collect()
    }
}

/// The supported ones among what `nvcc --list-gpu-arch` prints, ascending.
pub fn known(list: &str) -> Vec<u32> {
    let listed = |arch: &&u32| list.split_whitespace().any(|word| word == format!("compute_{arch}"));
    SUPPORTED.iter().filter(listed).copied().collect()
}

/// The architectures that `wanted`, the value of [`VARIABLE`], selects from those this nvcc knows; none for `none`.
///
/// # Errors
/// A word that is no supported architecture, one that this nvcc does not know, or an nvcc that knows none of them.
pub fn select(wanted: &str, known: &[u32]) -> Result<Option<Architectures>, String> {
    let newest = known.last().ok_or_else(|| format!("it knows none of the architectures {}", text(SUPPORTED)))?;
    let mut selected = match wanted.trim() {
        "none" => return Ok(None),
        "all" => known.to_vec(),
        "" => match DEFAULT.iter().copied().filter(|arch| known.contains(arch)).collect::<Vec<_>>() {
            none if none.is_empty() => vec![*newest],
            some => some,
        },
        list => list.split(',').map(|word| one(word.trim(), known)).collect::<Result<_, _>>()?,
    };
    selected.sort_unstable();
    selected.dedup();
    Ok(Some(Architectures(selected)))
}

fn one(word: &str, known: &[u32]) -> Result<u32, String> {
    let arch = SUPPORTED.iter().copied().find(|arch| word == version(*arch) || word == arch.to_string());
    let arch = arch.ok_or_else(|| {
        format!("{VARIABLE} names {word:?}: expected all, none, or a list of {} as in 8.0,9.0", text(SUPPORTED))
    })?;
    match known.contains(&arch) {
        true => Ok(arch),
        false => {
            Err(format!("{VARIABLE} names {}, which this nvcc does not know; it knows {}", version(arch), text(known)))
        }
    }
}

/// As in `8.6`.
pub fn version(arch: u32) -> String {
    format!("{}.{}", arch / 10, arch % 10)
}

fn text(archs: &[u32]) -> String {
    archs.iter().copied().map(version).collect::<Vec<_>>().join(", ")
}
