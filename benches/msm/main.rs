//! Sums over G1 and G2 bases, ours and the peers', in turn in one run, and beside what the processor's multiplications alone would take.
//!
//! `cargo bench --bench msm [-- --runs N] [--sizes 10,12,14,16,18,20,22] [--group g1] [--only cuzk]`: three rounds by default. Bases and scalars are in
//! memory, in the form that each prover has them in: ours decodes the parameter file's bytes. Everybody has all cores.
//!
//! Fails where 2^20 full scalars in G1 or 2^18 in G2 miss the required ratio to blst's Pippenger.

#[path = "../common/mod.rs"]
mod common;
mod counted;
mod input;
mod peers;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use cuzk::backend::cpu::{CpuBackend, PortableCpu};
use cuzk::backend::scalars::Scalars;
use cuzk::backend::Backend;

use counted::Counted;
use input::{Group, Input, Kind, G1, G2};

/// blst's time by ours: in lanes and in portable code.
struct Required {
    log_size: u32,
    lanes: f64,
    portable: f64,
}

fn main() -> ExitCode {
    let runs = common::flag("--runs").map_or(3, |n| n.parse().expect("--runs takes a number"));
    let sizes = common::flag("--sizes").unwrap_or_else(|| "10,12,14,16,18,20,22".into());
    let sizes: Vec<u32> = sizes.split(',').map(|n| n.parse().expect("--sizes takes logarithms")).collect();
    let group = common::flag("--group");
    let wanted = |name: &str| group.as_deref().is_none_or(|group| group == name);
    let counted = Counted::measure();
    println!("{counted}; {} threads\n", rayon::current_num_threads());
    let mut met = true;
    if wanted("g1") {
        met &= compare::<G1>(&sizes, runs, &counted, &Required { log_size: 20, lanes: 5.0, portable: 1.6 });
    }
    if wanted("g2") {
        let sizes: Vec<u32> = sizes.iter().copied().filter(|n| *n <= 18).collect();
        met &= compare::<G2>(&sizes, runs, &counted, &Required { log_size: 18, lanes: 4.0, portable: 1.5 });
    }
    if met {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Who makes a sum. All of them must make the same.
type Prover<'a, G> = (&'static str, Box<dyn Fn() -> <G as Group>::Projective + 'a>);

/// One table; whether what is required was met.
fn compare<G: Group>(sizes: &[u32], runs: usize, counted: &Counted, required: &Required) -> bool {
    let mut met = true;
    println!("{}: seconds, median of {runs} rounds; in brackets the time of each by that of cuzk", G::NAME);
    let names = ["cuzk", "portable", "blst", "arkworks", "bellperson"];
    println!("{:<14}{}{:>10}", "scalars", names.map(|name| format!("{name:>18}")).concat(), "counted");
    for log_size in sizes {
        for kind in Kind::ALL {
            let input = Input::<G>::new(1 << log_size, kind);
            if let Some(name) = common::flag("--only") {
                alone::<G>(&provers(&input), &name, runs);
                continue;
            }
            let medians = medians::<G>(&provers(&input), runs);
            let cells = medians.iter().map(|m| {
                format!("{:>18}", format!("{} ({:.2})", seconds(*m), m.as_secs_f64() / medians[0].as_secs_f64()))
            });
            let floor = counted.seconds::<G>(&input);
            println!(
                "{:<14}{}{:>10}",
                format!("2^{log_size} {}", kind.name()),
                cells.collect::<String>(),
                seconds(floor)
            );
            if *log_size == required.log_size && kind == Kind::Full {
                let ratio = |ours: usize| medians[2].as_secs_f64() / medians[ours].as_secs_f64();
                let lanes = if counted.has_lanes() { required.lanes } else { required.portable };
                met &= ratio(0) >= lanes && ratio(1) >= required.portable;
                println!(
                    "{:<14}required: {lanes} and {} times blst; reached {:.2} and {:.2}",
                    "",
                    required.portable,
                    ratio(0),
                    ratio(1)
                );
            }
        }
    }
    println!();
    met
}

fn provers<G: Group>(input: &Input<G>) -> [Prover<'_, G>; 5] {
    let runs = || [Scalars::Elements(&input.scalars)];
    // As in a run of several partitions, memory stays from one sum to the next.
    let (lanes, portable) = (CpuBackend::default(), PortableCpu::default());
    let ours = move |backend: &dyn Backend| G::sum(backend, &input.bytes, &runs());
    [
        ("cuzk", Box::new(move || ours(&lanes))),
        ("portable", Box::new(move || G::sum(&portable, &input.bytes, &runs()))),
        ("blst", Box::new(|| G::blst(input))),
        ("arkworks", Box::new(|| G::arkworks(input))),
        ("bellperson", Box::new(|| G::bellperson(input))),
    ]
}

/// One prover's times, for a profiler beside it.
fn alone<G: Group>(provers: &[Prover<'_, G>; 5], name: &str, runs: usize) {
    let (_, prover) = provers.iter().find(|(known, _)| *known == name).expect("--only takes a column's name");
    for _ in 0..=runs {
        let start = Instant::now();
        std::hint::black_box(prover());
        println!("{name} {}", seconds(start.elapsed()));
    }
}

fn medians<G: Group>(provers: &[Prover<'_, G>; 5], runs: usize) -> [Duration; 5] {
    // One round beforehand, in which they are compared.
    let expected = provers[0].1();
    for (name, prover) in &provers[1..] {
        assert!(prover() == expected, "{name} makes another sum");
    }
    let mut times: [Vec<Duration>; 5] = Default::default();
    for _ in 0..runs {
        for ((_, prover), times) in provers.iter().zip(&mut times) {
            let start = Instant::now();
            std::hint::black_box(prover());
            times.push(start.elapsed());
        }
    }
    times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    })
}

fn seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}
