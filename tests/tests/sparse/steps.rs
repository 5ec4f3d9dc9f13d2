//! The steps of ordering rows, each by itself.

use gpu_core::View;
use gpu_sparse::{Analysis, Diagonal, OrderSteps, Side};
use gpu_tests::backends::for_each;

use crate::support::{reversed, triangles};

fn words(view: Option<View<'_, u32>>) -> Vec<u32> {
    let view = view.expect("the step was done");
    let mut words = vec![0; view.len()];
    view.copy_to(&mut words).unwrap();
    words
}

#[test]
fn the_steps_of_ordering_rows_give_their_order() {
    for_each("steps of ordering", |device| {
        for (name, lower) in triangles::<f32>(true).into_iter().chain(triangles(false)) {
            for (host, side) in [(reversed(&lower), Side::Upper), (lower, Side::Lower)] {
                let a = host.on(device);
                let analysis = Analysis::new(&a, side, Diagonal::Unit).unwrap();
                let order = analysis.order_rows().unwrap();
                let mut steps = OrderSteps::new(&analysis);
                assert!(steps.starts().is_none() && steps.rows().is_none());
                // Twice: what the first left does not matter.
                for _ in 0..2 {
                    assert_eq!(steps.maximum().unwrap(), analysis.level_count(), "{name}");
                    steps.count().unwrap();
                    steps.sum().unwrap();
                    steps.order().unwrap();
                }
                assert_eq!(words(steps.starts()), words(Some(order.starts())), "{name}");
                assert_eq!(words(steps.rows()), words(Some(order.rows())), "{name}");
                // Each step does those before it.
                let mut steps = OrderSteps::new(&analysis);
                steps.order().unwrap();
                assert_eq!(words(steps.rows()), words(Some(order.rows())), "{name}");
            }
        }
    });
}
