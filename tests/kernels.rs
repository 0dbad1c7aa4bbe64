//! What kernels/ holds beside its sources: the fields' constants and the table of the kernels' resources, both kept true.

#[path = "kernels/constants.rs"]
mod constants;
#[path = "kernels/minimum.rs"]
mod minimum;
#[path = "kernels/resources.rs"]
mod resources;

use resources::{Compiled, Table};

const CONSTANTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/ff/constants.cuh");
const RESOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/resources.txt");
const PINS: &str = include_str!("../kernels/toolkit.txt");

#[test]
fn the_constants_are_those_of_blstrs() {
    let written = std::fs::read_to_string(CONSTANTS).unwrap();
    assert!(written == constants::header(), "{CONSTANTS} is not what blstrs says; kernels/README.md: how to renew it");
}

/// Not a test: writes the constants anew.
#[test]
#[ignore = "writes kernels/ff/constants.cuh"]
fn write_the_constants() {
    std::fs::write(CONSTANTS, constants::header()).unwrap();
}

/// Compared is what this build's kernels were compiled for, where its nvcc is the table's: another version allocates
/// registers in its own way.
#[test]
fn the_table_of_resources_is_what_the_compiler_says() {
    let table = Table::read(&std::fs::read_to_string(RESOURCES).unwrap());
    let Some(compiled) = Compiled::of_this_build() else {
        println!("\nresources: not compared: this build has no kernels");
        return;
    };
    if compiled.nvcc != table.nvcc {
        println!("\nresources: not compared: the table is of nvcc {}, this build of {}", table.nvcc, compiled.nvcc);
        return;
    }
    let mut compared = Vec::new();
    for arch in compiled.architectures().into_iter().filter(|arch| table.architectures().contains(arch)) {
        let (expected, found) = (table.of(&arch), compiled.table().of(&arch));
        assert_eq!(found, expected, "{RESOURCES} is not what the compiler says; kernels/README.md: how to renew it");
        compared.push(arch);
    }
    println!("\nresources: compared for {}; nvcc took {} s", compared.join(" "), compiled.seconds);
}

/// What the emulated device is tested with is CUDA: it shows a device's ways, not its own.
#[test]
fn the_emulated_devices_test_kernels_compile_as_cuda() {
    let Some(compiled) = Compiled::of_this_build() else {
        println!("\nthe emulated device's test kernels: not compiled: this build has no kernels");
        return;
    };
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/emulator/correct.cu");
    compiled.compile(source.as_ref(), compiled.architectures().last().expect("an architecture"));
}

/// The minimum depends on no compiler: it is compared in every build. And it is one: no machine code has less, but that which calls
/// functions, where a call counts as one instruction.
#[test]
fn the_minimum_is_what_the_algorithms_add_up_to() {
    let table = Table::read(&std::fs::read_to_string(RESOURCES).unwrap());
    let mut counted = 0;
    for (arch, kernel, row) in table.rows() {
        assert_eq!(row.minimum, minimum::minimum(kernel), "{arch} {kernel}; kernels/README.md: how to renew the table");
        let Some(minimum) = row.minimum else { continue };
        let calls = row.stack > 0;
        assert!(calls || row.instructions >= minimum.instructions, "{arch} {kernel}: {row:?}");
        assert!(calls || row.products >= minimum.products, "{arch} {kernel}: {row:?}");
        counted += 1;
    }
    assert!(counted > 0);
}

/// Not a test: writes the table anew, of this build's kernels.
#[test]
#[ignore = "writes kernels/resources.txt"]
fn write_the_table_of_resources() {
    let compiled = Compiled::of_this_build().expect("kernels in this build: set CUZK_NVCC");
    std::fs::write(RESOURCES, compiled.table().to_string()).unwrap();
}

#[test]
fn the_table_is_of_the_pinned_compiler() {
    let table = Table::read(&std::fs::read_to_string(RESOURCES).unwrap());
    let pinned = PINS.lines().find_map(|line| line.strip_prefix("nvidia-cuda-nvcc==")).expect("a version of nvcc");
    assert_eq!(pinned.trim_end_matches(" \\"), table.nvcc, "kernels/toolkit.txt and {RESOURCES}");
    assert_eq!(table.architectures().len(), 2, "the table is of two architectures");
}
