//! The choice of instructions at run time: the only unsafe code here.

use super::Task;

/// Runs `task` with the best instructions that the machine has.
pub(crate) fn widest(task: impl Task) {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") {
            // SAFETY: the machine has these instructions.
            return unsafe { avx512(task) };
        }
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            // SAFETY: the machine has these instructions.
            return unsafe { avx2(task) };
        }
    }
    task.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
fn avx512(task: impl Task) {
    task.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2(task: impl Task) {
    task.run();
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_std::float::Float;

    struct Chain<'a> {
        values: &'a [f32],
        sums: &'a mut [f32; 37],
    }

    impl Task for Chain<'_> {
        #[inline(always)]
        fn run(self) {
            for (k, &value) in self.values.iter().enumerate() {
                for (j, sum) in self.sums.iter_mut().enumerate() {
                    *sum = Float::mul_add(value, (k * 37 + j) as f32 / 7.0, *sum);
                }
            }
        }
    }

    #[test]
    fn every_set_of_instructions_gives_the_same_bits() {
        let values: Vec<f32> = (0..91).map(|k| (k as f32).sin()).collect();
        let sums = |way: &dyn Fn(Chain<'_>)| {
            let mut sums = [0.5; 37];
            way(Chain { values: &values, sums: &mut sums });
            sums
        };
        let expected = sums(&|task| task.run());
        assert_eq!(sums(&|task| widest(task)), expected);
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            // SAFETY: the machine has these instructions.
            assert_eq!(sums(&|task| unsafe { avx2(task) }), expected);
        } else {
            eprintln!("SKIPPED: this machine has no avx2");
        }
    }
}
