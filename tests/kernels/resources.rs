//! The table of the kernels' resources: what `ptxas -v` said when build.rs compiled them, and the instructions that
//! cuobjdump counts.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::minimum::{minimum, Minimum};

/// What build.rs left of the compilation.
pub struct Compiled {
    pub nvcc: String,
    pub seconds: f64,
    path: PathBuf,
    log: &'static str,
}

/// One kernel for one architecture. Bytes, but for registers and instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub registers: u64,
    pub shared: u64,
    pub stack: u64,
    pub spills: u64,
    /// All instructions in the machine code, the padding behind the last branch left out; and those of them that multiply
    /// two words.
    pub instructions: u64,
    pub products: u64,
    /// What is executed at least of both, where that was counted.
    pub minimum: Option<Minimum>,
}

/// Rows by architecture, as in `sm_80`, and kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub nvcc: String,
    rows: BTreeMap<(String, String), Row>,
}

const COLUMNS: [&str; 10] = [
    "architecture",
    "kernel",
    "registers",
    "shared",
    "stack",
    "spills",
    "instructions",
    "minimum",
    "products",
    "minimum",
];
const WIDTHS: [usize; 10] = [12, 26, 9, 7, 6, 6, 12, 7, 8, 7];

impl Compiled {
    /// Nothing where this build has no kernels.
    pub fn of_this_build() -> Option<Self> {
        let log = include_str!(concat!(env!("OUT_DIR"), "/kernels.log"));
        let (first, log) = log.split_once('\n')?;
        let [nvcc, seconds, path] = first.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("log begins: {first}") };
        Some(Self { nvcc: nvcc.into(), seconds: seconds.parse().expect("seconds"), path: path.into(), log })
    }

    pub fn architectures(&self) -> Vec<String> {
        architectures(&ptxas(self.log))
    }

    /// Compiles a source that is none of the build's, for one architecture.
    pub fn compile(&self, source: &Path, architecture: &str) {
        let folder = tempfile::tempdir().expect("temporary folder");
        let mut nvcc = Command::new(&self.path);
        nvcc.args(["-std=c++17", "-cubin", "-arch", architecture, "-o"]).arg(folder.path().join("cubin")).arg(source);
        let output = nvcc.output().expect("nvcc runs");
        assert!(output.status.success(), "{}: {}", source.display(), String::from_utf8_lossy(&output.stderr));
    }

    pub fn table(&self) -> Table {
        let mut rows = ptxas(self.log);
        assert!(!rows.is_empty(), "ptxas -v named no kernel: {}", self.log);
        for (key, (instructions, products)) in counted(&self.disassembly()) {
            let row = rows.get_mut(&key).unwrap_or_else(|| panic!("{key:?}: in the fatbin, but not named by ptxas"));
            (row.instructions, row.products, row.minimum) = (instructions, products, minimum(&key.1));
        }
        Table { nvcc: self.nvcc.clone(), rows }
    }

    /// What cuobjdump says of the embedded fatbin. It and nvdisasm stand beside nvcc, in NVIDIA's toolkit too.
    fn disassembly(&self) -> String {
        let beside = self.path.parent().expect("nvcc stands in a folder");
        let path = format!("{}:{}", beside.display(), std::env::var("PATH").unwrap_or_default());
        let fatbin = Path::new(concat!(env!("OUT_DIR"), "/kernels.fatbin"));
        let output = Command::new(beside.join("cuobjdump")).arg("-sass").arg(fatbin).env("PATH", path).output();
        let output = output.unwrap_or_else(|e| panic!("no cuobjdump in {}: {e}", beside.display()));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

/// The rows in what `ptxas -v` prints; instructions are left to count.
pub fn ptxas(log: &str) -> BTreeMap<(String, String), Row> {
    let mut rows = BTreeMap::new();
    let mut current = None;
    for line in log.lines() {
        if let Some((_, entry)) = line.split_once("Compiling entry function '") {
            let names: Vec<&str> = entry.split('\'').collect();
            let key = (names[2].to_owned(), names[0].to_owned());
            rows.insert(key.clone(), Row::default());
            current = Some(key);
            continue;
        }
        let Some(row) = current.as_ref().and_then(|key| rows.get_mut(key)) else { continue };
        let number = |what: &str| {
            let before = line.split(what).next().filter(|before| before.len() < line.len())?;
            before.rsplit(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty())?.parse::<u64>().ok()
        };
        row.registers += number(" registers").unwrap_or(0);
        row.shared += number(" bytes smem").unwrap_or(0);
        row.stack += number(" bytes stack frame").unwrap_or(0);
        row.spills += number(" bytes spill stores").unwrap_or(0) + number(" bytes spill loads").unwrap_or(0);
    }
    rows
}

/// Instructions and products of each kernel in what `cuobjdump -sass` prints.
pub fn counted(disassembly: &str) -> BTreeMap<(String, String), (u64, u64)> {
    let mut counts = BTreeMap::new();
    let (mut arch, mut kernel) = (String::new(), None);
    for line in disassembly.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("arch = ") {
            (arch, kernel) = (name.to_owned(), None);
        } else if let Some(name) = line.strip_prefix("Function : ") {
            kernel = Some(name.to_owned());
        } else if let (Some(kernel), Some(instruction)) = (&kernel, instruction(line)) {
            let count: &mut (u64, u64) = counts.entry((arch.clone(), kernel.clone())).or_default();
            count.0 += u64::from(instruction != "NOP");
            count.1 += u64::from(multiplies(instruction));
        }
    }
    counts
}

/// Does it multiply words? IMAD with other suffixes moves, shifts or adds.
fn multiplies(instruction: &str) -> bool {
    ["IMAD.WIDE", "IMAD.HI"].iter().any(|kind| instruction.starts_with(kind))
        || ["IMAD", "IMAD.U32"].contains(&instruction)
}

/// The name in a line as `/*0010*/ @P0 IMAD.WIDE.U32 R2, R4, R5, R2 ; /* 0x... */`.
fn instruction(line: &str) -> Option<&str> {
    let (address, rest) = line.strip_prefix("/*")?.split_once("*/")?;
    let is_address = address.len() >= 4 && address.chars().all(|c| c.is_ascii_hexdigit());
    let mut words = rest.split_whitespace().filter(|word| !word.starts_with('@'));
    words.next().filter(|_| is_address).map(|word| word.trim_end_matches(';'))
}

impl Table {
    pub fn read(text: &str) -> Self {
        let mut lines = text.lines();
        let nvcc = lines.next().and_then(|line| line.strip_prefix("nvcc ")).expect("nvcc's version first").to_owned();
        assert_eq!(lines.next().map(|line| line.split_whitespace().collect::<Vec<_>>()), Some(COLUMNS.to_vec()));
        Self { nvcc, rows: lines.map(row).collect() }
    }

    pub fn architectures(&self) -> Vec<String> {
        architectures(&self.rows)
    }

    /// Architecture, kernel and row of all.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &str, &Row)> {
        self.rows.iter().map(|((arch, kernel), row)| (arch.as_str(), kernel.as_str(), row))
    }

    /// The lines of one architecture, as text: what differs is seen at once.
    pub fn of(&self, arch: &str) -> Vec<String> {
        self.rows.iter().filter(|((of, _), _)| of == arch).map(|(key, row)| line(key, row)).collect()
    }
}

fn architectures(rows: &BTreeMap<(String, String), Row>) -> Vec<String> {
    let mut found: Vec<String> = rows.keys().map(|(arch, _)| arch.clone()).collect();
    found.dedup();
    found
}

fn row(line: &str) -> ((String, String), Row) {
    let [arch, kernel, numbers @ ..] = &line.split_whitespace().collect::<Vec<_>>()[..] else { panic!("row: {line}") };
    let number = |word: &&str| (*word != "-").then(|| word.parse().unwrap_or_else(|e| panic!("{line}: {e}")));
    let numbers: Vec<Option<u64>> = numbers.iter().map(number).collect();
    let [Some(registers), Some(shared), Some(stack), Some(spills), Some(instructions), least, Some(products), least_products] =
        numbers[..]
    else {
        panic!("row: {line}")
    };
    let minimum = least.zip(least_products).map(|(instructions, products)| Minimum { instructions, products });
    let row = Row { registers, shared, stack, spills, instructions, products, minimum };
    ((arch.to_string(), kernel.to_string()), row)
}

fn line((arch, kernel): &(String, String), row: &Row) -> String {
    let Row { registers, shared, stack, spills, instructions, products, minimum } = row;
    let least =
        |of: fn(&Minimum) -> u64| minimum.as_ref().map_or_else(|| "-".to_owned(), |minimum| of(minimum).to_string());
    let numbers = [registers, shared, stack, spills, instructions].map(u64::to_string);
    let rest = [least(|m| m.instructions), products.to_string(), least(|m| m.products)];
    padded([arch.clone(), kernel.clone()].into_iter().chain(numbers).chain(rest))
}

/// Cells in the columns' widths: two names flush left, numbers flush right.
fn padded(cells: impl IntoIterator<Item = String>) -> String {
    let cells = cells.into_iter().zip(WIDTHS).enumerate();
    let padded = cells.map(|(i, (cell, width))| match i {
        0 | 1 => format!("{cell:<width$}"),
        _ => format!("{cell:>width$}"),
    });
    padded.collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "nvcc {}", self.nvcc)?;
        writeln!(f, "{}", padded(COLUMNS.map(str::to_owned)))?;
        self.rows.iter().try_for_each(|(key, row)| writeln!(f, "{}", line(key, row)))
    }
}
