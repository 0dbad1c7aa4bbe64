//! Proofs on the emulated device: for the same r and s the same bytes as on the CPU.

use bellperson::groth16::Proof;
use blstrs::{Bls12, Scalar as Fr};
use cuzk::backend::cpu::CpuBackend;
use cuzk::backend::cuda::CudaBackend;
use cuzk::backend::{dual::Dual, Backend};
use cuzk::circuit::CircuitIdentity;
use cuzk::constraints::Constraints;
use cuzk::error::Fault;
use cuzk::gpu::Gpu;
use cuzk::groth16::{check_proofs, prove, sum_of_quotient, sums_of_witnesses, Blinding, Circuit, Sums};
use cuzk::report::Timings;
use cuzk::srs::{self, generate::generate, generate::Request, Lookup, Srs};
use cuzk::witness::{synthesize, CompactWitness};
use ff::Field;

use super::circuits::RandomCircuit;
use super::running::{emulated, in_all_orders, run_emulated};

/// A circuit with its development parameters and its witness.
struct Case {
    _folder: tempfile::TempDir,
    srs: Srs,
    circuit: Circuit,
    witness: CompactWitness,
    inputs: Vec<Fr>,
}

impl Case {
    fn new(rows: usize, inputs: usize) -> Self {
        let circuit = RandomCircuit { rows, inputs, seed: rows as u64 };
        let folder = tempfile::tempdir().unwrap();
        let [params, vk, meta] = ["params", "vk", "meta"].map(|kind| format!("v28-test.{kind}"));
        let identity = CircuitIdentity { params, vk, meta };
        let path = folder.path();
        let request =
            Request { identity: &identity, sector_bytes: 2048, folder: path, folder_source: "test", seed: None };
        generate(&request, circuit, &srs::progress::silent).unwrap();
        let lookup = Lookup { folder: path.into(), folder_source: "test".into(), recheck: false };
        let srs = srs::open(&identity, &lookup, None, &srs::progress::silent).unwrap();
        let witness = synthesize(circuit).unwrap().witness().unwrap();
        let constraints = Constraints::build(circuit).unwrap();
        Self { _folder: folder, srs, circuit: Circuit::new(constraints), witness, inputs: circuit.public_inputs() }
    }

    fn prove(&self, backend: &dyn Backend) -> cuzk::error::Result<Proof<Bls12>> {
        let blinding = Blinding { r: Fr::from(27134).invert().unwrap(), s: -Fr::from(17146) };
        prove(backend, &self.srs, &self.circuit, &self.witness, &blinding, &Timings::default())
    }
}

fn bytes(proof: &Proof<Bls12>) -> Vec<u8> {
    let mut bytes = Vec::new();
    proof.write(&mut bytes).unwrap();
    bytes
}

fn cuda(index: u32) -> CudaBackend {
    CudaBackend::new(&Gpu::open(index).unwrap()).unwrap()
}

/// With the inputs' rows (ONE's included) the domain is just full, just overfull, and odd. One backend proves them all, one after the
/// other: what it keeps of a circuit must not be taken for another's.
#[test]
fn a_proof_on_the_device_is_the_cpus_byte_for_byte() {
    in_all_orders("prove::a_proof_on_the_device_is_the_cpus_byte_for_byte", || {
        let cuda = cuda(1);
        for (rows, inputs) in [(3, 0), (60, 2), (61, 2), (62, 2), (5, 2), (500, 3)] {
            let case = Case::new(rows, inputs);
            let expected = case.prove(&CpuBackend::default()).unwrap();
            // Twice: the second time with what was kept.
            for _ in 0..2 {
                let proof = case.prove(&cuda).unwrap();
                assert_eq!(bytes(&proof), bytes(&expected), "{rows} rows, {inputs} inputs");
            }
            check_proofs(case.srs.vk(), &[expected], &[case.inputs]).unwrap();
        }
    });
}

/// As a batch does it: the sums over the witnesses together, more of them than the device takes at once, then each one's quotient. The
/// witnesses but the first are of circuits of the same lengths: they satisfy nothing, and their sums are sums all the same.
#[test]
fn partitions_that_wait_are_proved_together() {
    emulated("prove::partitions_that_wait_are_proved_together", &[("EMULATOR_STREAMS", "lazy")], || {
        let case = Case::new(100, 2);
        let others =
            (7..11).map(|seed| synthesize(RandomCircuit { rows: 100, inputs: 2, seed }).unwrap().witness().unwrap());
        let others: Vec<CompactWitness> = others.collect();
        let timings = Timings::default();
        let sums = |backend: &dyn Backend| -> Vec<Sums> {
            let witnesses: Vec<_> = [&case.witness].into_iter().chain(&others).map(|one| (one, &timings)).collect();
            assert!(witnesses.len() > backend.together() || backend.name().starts_with("cpu"));
            let together = sums_of_witnesses(backend, &case.srs, &case.circuit, &witnesses).unwrap();
            let of_quotient = |witness| sum_of_quotient(backend, &case.srs, &case.circuit, witness, &timings).unwrap();
            together.into_iter().zip(witnesses).map(|(sums, (witness, _))| sums.with(of_quotient(witness))).collect()
        };
        let (device, cpu) = (sums(&cuda(0)), sums(&CpuBackend::default()));
        assert_eq!(device, cpu);
        assert!((1..cpu.len()).all(|k| cpu[k].l != cpu[0].l && cpu[k].h != cpu[0].h), "the witnesses differ");
    });
}

#[test]
fn the_dual_backend_compares_the_device_with_the_cpu() {
    emulated("prove::the_dual_backend_compares_the_device_with_the_cpu", &[], || {
        let case = Case::new(200, 2);
        let proof = case.prove(&Dual::new(cuda(0), CpuBackend::default())).unwrap();
        assert_eq!(bytes(&proof), bytes(&case.prove(&CpuBackend::default()).unwrap()));
    });
}

/// A bit that flips in a copy makes another sum, or values that are refused, which is the device's fault and not the parameter file's; or does
/// not matter, since not all bits of all tables do.
#[test]
fn a_flipped_bit_is_found_by_the_comparison_or_does_not_matter() {
    let mut found = 0;
    for copy in 1..=24 {
        let inject = format!("flip:{copy}=3");
        let test = "prove::a_flipped_bit_is_found_by_the_comparison_or_does_not_matter";
        let output = run_emulated(test, &[("EMULATOR_INJECT", &inject)], || {
            let (case, cpu) = (Case::new(60, 2), CpuBackend::default());
            match case.prove(&Dual::new(cuda(0), CpuBackend::default())) {
                Ok(proof) => assert_eq!(bytes(&proof), bytes(&case.prove(&cpu).unwrap())),
                Err(e) => {
                    assert_eq!(e.fault(), Fault::Device, "{e}");
                    println!("found: {e}");
                }
            }
        });
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "copy {copy}: {output:?}");
        found += usize::from(said.contains("found: "));
    }
    assert!(found >= 12, "of 24 flipped bits {found} were found");
}
