//! Both front ends over every kernel.

use tests::{FrontEnd, sass};
use warpwise_kernels::KERNELS;

#[test]
fn the_machine_knows_every_instruction_of_every_kernel_on_every_architecture() {
    let mut refused = Vec::new();
    let mut pairs = 0;
    for arch in ["sm_80", "sm_90", "sm_120"] {
        let sass = sass(arch);
        for kernel in KERNELS {
            match sass.program(kernel.name) {
                Ok(program) => {
                    assert_eq!(program.code.len(), program.control.len(), "{}", kernel.name);
                    pairs += 1;
                }
                Err(error) => refused.push(format!("{arch}: {error}")),
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert_eq!(pairs, 3 * KERNELS.len());
    assert_eq!(FrontEnd::ALL.len(), 4);
    println!("{pairs} kernels and architectures are known to the machine");
}
