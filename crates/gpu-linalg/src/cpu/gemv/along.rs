//! Sums along lines, by registers.
//!
//! A lane of a line has a chain, which takes 16 bytes in turn; registers hold an element of many lanes at a time. Lines
//! of many lanes fill registers by themselves; of shorter ones several are side by side. Either way as many registers
//! are read as 16 bytes have elements, and sorted inside these 16 bytes, which takes a core no longer than its
//! second-level cache takes to bring them. From farther away registers of 64 bytes ask for them ahead, into that cache:
//! of one kind a core took 1.14 ms for 2048² `f64` from memory, and 1.48 without; into the first-level one it took
//! 2.0. Of another kind it takes 1.29 either way.

use gpu_core::vectors::prefetch_l2;

use super::Along;
use super::beside::short_lines;
use super::single::single;
use crate::cpu::aligned::Aligned;
use crate::cpu::lanes::{Beside, Block, Has, Lanes, Registers};
use crate::cpu::launch::ByRegisters;
use crate::launch::RealElement;

/// Rows that are added at a time are a divisor of this.
pub(super) const BLOCK: usize = 8;
/// Bytes of a matrix that comes from memory: four lines at a time come sooner from there than two, and later from a
/// cache, 512² `f64` in 36 µs instead of 31.
pub(super) const FAR_BYTES: usize = 12 << 20;
/// The same where registers have less than 64 bytes, and lines come in eights: 1400² `f64` took one of these machines
/// 0.72 ms so and 0.82 line after line, 1000² `f32` 0.12 and 0.11.
const FAR_FROM_SMALL: usize = 6 << 20;
/// Bytes that are asked for ahead in each line of a far matrix.
pub(super) const AHEAD: isize = 1024;
/// Elements of lines of which the compiler makes vectors, at most.
const SHORT: usize = 4;
/// Elements of a widest register, at most.
pub(super) const MOST_LANES: usize = 16;
/// Lanes of a line, at most.
const MOST_WIDTH: usize = 32;

/// Whether a matrix comes from memory.
pub(super) fn is_far<T>(a: &[T]) -> bool {
    size_of_val(a) > FAR_BYTES
}

/// Whether far lines are asked for ahead. Machines without registers of 64 bytes ask for them by themselves, farther
/// ahead: 4096² `f32` took one 4.4 ms so, and 3.7 without.
pub(super) const fn asks<R>() -> bool {
    size_of::<R>() == 64
}

/// What is done with lanes in registers of either arrangement. `V` elements are 16 bytes.
pub(super) trait Arranged<T, const V: usize>: Sized {
    /// What comes out.
    type Output;

    /// Where `G` registers hold an element of each lane of a line.
    fn lanes<R: Lanes<T>, const G: usize>(self, has: Has<R>) -> Self::Output;

    /// Where `G` registers hold an element of each lane of `V` lines.
    fn beside<R: Lanes<T>, const G: usize>(self, has: Has<R>) -> Self::Output;
}

/// Does `work` in the arrangement for lines of `width` lanes, a power of two up to [`MOST_WIDTH`].
#[inline(always)]
pub(super) fn arranged<T, W: Lanes<T>, H: Lanes<T>, L: Lanes<T>, A: Arranged<T, V>, const V: usize>(
    work: A,
    width: usize,
    (wide, half, least): (Has<W>, Has<H>, Has<L>),
) -> A::Output {
    // Of 16 bytes.
    let (in_wide, in_half) = (W::LEN / V, H::LEN / V);
    match width / W::LEN {
        1 => work.lanes::<W, 1>(wide),
        2 if const { 2 * W::LEN <= MOST_WIDTH } => work.lanes::<W, 2>(wide),
        4 if const { 4 * W::LEN <= MOST_WIDTH } => work.lanes::<W, 4>(wide),
        8 if const { 8 * W::LEN <= MOST_WIDTH } => work.lanes::<W, 8>(wide),
        16 if const { 16 * W::LEN <= MOST_WIDTH } => work.lanes::<W, 16>(wide),
        _ if const { V > 2 } && width == 2 * in_wide => work.beside::<W, 2>(wide),
        _ if width == in_wide => work.beside::<W, 1>(wide),
        _ if const { H::LEN < W::LEN } && width == in_half => work.beside::<H, 1>(half),
        _ if const { L::LEN < H::LEN } => work.beside::<L, 1>(least),
        _ => unreachable!("lines of {width} lanes"),
    }
}

/// `x` in the order in which registers take it.
pub(super) struct Ordered<'a, T, const V: usize> {
    pub(super) x: &'a [T],
    /// Lanes of a line.
    pub(super) width: usize,
}

impl<T: Registers, const V: usize> ByRegisters<T> for Ordered<'_, T, V> {
    type Output = Aligned<T>;

    #[inline(always)]
    fn run<W: Lanes<T>, H: Lanes<T>, L: Lanes<T>>(self, has: (Has<W>, Has<H>, Has<L>)) -> Aligned<T> {
        let width = self.width;
        arranged::<T, W, H, L, _, V>(self, width, has)
    }
}

impl<T: Registers, const V: usize> Arranged<T, V> for Ordered<'_, T, V> {
    type Output = Aligned<T>;

    #[inline(always)]
    fn lanes<R: Lanes<T>, const G: usize>(self, has: Has<R>) -> Aligned<T> {
        let mut ordered = Aligned::new(T::ZERO, self.x.len().next_multiple_of(G * V * R::LEN));
        order_lanes::<T, R, V, G>(has, self.x, (0, G * V * R::LEN), &mut ordered);
        ordered
    }

    #[inline(always)]
    fn beside<R: Lanes<T>, const G: usize>(self, has: Has<R>) -> Aligned<T> {
        let registers = self.x.len().next_multiple_of(G * R::LEN) / R::LEN;
        let mut ordered = Aligned::new(T::ZERO, registers * V * R::LEN);
        for (number, ordered) in ordered.chunks_exact_mut(V * R::LEN).enumerate() {
            // Every line's.
            let x = R::load_some(has, self.x.get(number * R::LEN..).unwrap_or(&[]));
            let columns = turned([x; V]);
            for j in 0..V {
                columns[j].store(&mut ordered[j * R::LEN..]);
            }
        }
        ordered
    }
}

/// What [`lanes`] takes of `x`, whose rounds begin at `first` and are `round` elements apart.
#[inline(always)]
pub(super) fn order_lanes<T: Registers, R: Lanes<T>, const V: usize, const G: usize>(
    has: Has<R>,
    x: &[T],
    (first, round): (usize, usize),
    ordered: &mut [T],
) {
    let rounds = (first..x.len()).step_by(round);
    for (at, ordered) in rounds.zip(ordered.chunks_exact_mut(G * V * R::LEN)) {
        for (group, ordered) in ordered.chunks_exact_mut(V * R::LEN).enumerate() {
            let columns = turned(some::<T, R, V>(has, x, at + group * V * R::LEN));
            for j in 0..V {
                columns[j].store(&mut ordered[j * R::LEN..]);
            }
        }
    }
}

/// [`Along`], of elements of which `V` are 16 bytes.
pub(super) struct Rows<'a, T: RealElement, const V: usize>(pub(super) Along<'a, T>);

impl<T: RealElement, const V: usize> ByRegisters<T> for Rows<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn run<W: Lanes<T>, H: Lanes<T>, L: Lanes<T>>(mut self, has: (Has<W>, Has<H>, Has<L>)) {
        let Along { layout, width, .. } = self.0;
        if const { W::LEN > V } && width == 1 && layout.columns() > SHORT {
            self.0 = single::<T, W, V>(has.0, self.0);
        }
        match layout.columns() {
            // The compiler makes vectors of rows of these.
            columns if columns != layout.leading_dimension() => {
                arranged::<T, W, H, L, _, V>(self, width, has)
            }
            1 => self.short::<1>(),
            2 => self.short::<2>(),
            3 => self.short::<3>(),
            4 => self.short::<4>(),
            _ => arranged::<T, W, H, L, _, V>(self, width, has),
        }
    }
}

impl<T: RealElement, const V: usize> Arranged<T, V> for Rows<'_, T, V> {
    type Output = ();

    #[inline(always)]
    fn lanes<R: Lanes<T>, const G: usize>(self, has: Has<R>) {
        self.blocks::<R, G, false>(has);
    }

    #[inline(always)]
    fn beside<R: Lanes<T>, const G: usize>(self, has: Has<R>) {
        self.blocks::<R, G, true>(has);
    }
}

impl<T: RealElement, const V: usize> Rows<'_, T, V> {
    /// Blocks of up to `V` rows, or of a matrix that is far as many as come the soonest: 4, or 8 that are not asked
    /// for, 2583 × 1636 `f32` in 0.80 ms instead of 1.18.
    #[inline(always)]
    fn blocks<R: Lanes<T>, const G: usize, const BESIDE: bool>(self, has: Has<R>) {
        let Along { a, layout, x, columns, width: _, first, sums } = self.0;
        if sums.is_empty() {
            return;
        }
        let is_far = if const { asks::<R>() } {
            is_far(a)
        } else {
            // Pieces of lines by themselves are too short for a core to ask for what is behind them.
            size_of_val(a) > FAR_FROM_SMALL || columns.len() < layout.columns()
        };
        let start = layout.index(first, columns.start);
        let lines = Block::new(&a[start..], layout.leading_dimension(), sums.len(), columns.len());
        if const { BESIDE } {
            short_lines::<T, R, V, G>(has, lines, x, sums);
        } else if is_far && const { !asks::<R>() } {
            several::<T, R, V, G, 8>(has, (lines, is_far), x, sums);
        } else if is_far && const { V < 4 } {
            several::<T, R, V, G, 4>(has, (lines, is_far), x, sums);
        } else {
            several::<T, R, V, G, V>(has, (lines, is_far), x, sums);
        }
    }

    /// Rows of `N` elements that follow each other: a single lane has a chain as any loop's.
    #[inline(always)]
    fn short<const N: usize>(self) {
        let Along { a, x, first, sums, .. } = self.0;
        let mut factors = [T::ZERO; N];
        for k in 0..N {
            // The first of as many that are alike.
            factors[k] = x[k * V];
        }
        let (rows, _) = a[first * N..].as_chunks::<N>();
        for (sum, row) in sums.iter_mut().zip(rows) {
            let mut chain = T::ZERO;
            for k in 0..N {
                chain = row[k].mul_add(factors[k], chain);
            }
            *sum = chain;
        }
    }
}

/// The sums of lines that fill registers by themselves, and may be far, `L` at a time.
#[inline(always)]
fn several<T: Registers, R: Lanes<T>, const V: usize, const G: usize, const L: usize>(
    has: Has<R>,
    (lines, is_far): (Block<'_, T>, bool),
    x: &[T],
    sums: &mut [T],
) {
    let round = (0, G * V * R::LEN);
    let (many, few) = sums.as_chunks_mut::<L>();
    for (number, sums) in many.iter_mut().enumerate() {
        let lines = some_lines(lines, number * L, L);
        *sums = lanes::<T, R, V, G, L, true>(has, (lines, L, is_far), x, round);
    }
    if !few.is_empty() {
        let lines = some_lines(lines, many.len() * L, few.len());
        let sums = lanes::<T, R, V, G, L, false>(has, (lines, few.len(), is_far), x, round);
        few.copy_from_slice(&sums[..few.len()]);
    }
}

/// `L` lines from `first` on, of which `count` are there: in place of others is the last one.
#[inline(always)]
pub(super) fn some_lines<T: Copy, const L: usize>(
    lines: Block<'_, T>,
    first: usize,
    count: usize,
) -> [&[T]; L] {
    let part = lines.part(first, count);
    let mut some: [&[T]; L] = [&[]; L];
    for (line, some) in some.iter_mut().enumerate() {
        *some = part.rest(line.min(count - 1), 0);
    }
    some
}

/// The sums of the first `count` of `L` lines, a multiple of `V`, of which a round begins at `first`, and the next one
/// `round` elements behind it: in each `V` elements of as many lanes as `G` registers have. They are `ALL` lines, or
/// fewer.
#[inline(always)]
pub(super) fn lanes<
    T: Registers,
    R: Lanes<T>,
    const V: usize,
    const G: usize,
    const L: usize,
    const ALL: bool,
>(
    has: Has<R>,
    (lines, count, is_far): ([&[T]; L], usize, bool),
    x: &[T],
    (first, round): (usize, usize),
) -> [T; L] {
    // Of 32 registers of 64 bytes, or 16 of others, so many may hold sums.
    const fn most<R>() -> usize {
        if size_of::<R>() == 64 { 16 } else { 8 }
    }
    let mut sums = [R::splat(has, T::ZERO); L];
    // Far ones, even where their sums are in memory: those in turn are what comes sooner.
    if const { ALL && L * G <= most::<R>() } || const { ALL && !asks::<R>() } && is_far {
        sums = chains::<T, R, V, G, L>(has, (lines, is_far), x, (first, round));
    } else {
        let mut line = 0;
        while const { asks::<R>() && 2 * G <= most::<R>() } && line + 2 <= count {
            let pair = [lines[line], lines[line + 1]];
            [sums[line], sums[line + 1]] = chains::<T, R, V, G, 2>(has, (pair, is_far), x, (first, round));
            line += 2;
        }
        while line < count {
            [sums[line]] = chains::<T, R, V, G, 1>(has, ([lines[line]], is_far), x, (first, round));
            line += 1;
        }
    }
    folded_lines::<T, R, V, L>(sums)
}

/// The sums of `L` lines, a multiple of `V`, each of which has a register of sums of its lanes.
#[inline(always)]
pub(super) fn folded_lines<T: Registers, R: Lanes<T>, const V: usize, const L: usize>(
    mut sums: [R; L],
) -> [T; L] {
    let (mut all, mut first) = ([T::ZERO; L], 0);
    while first < L {
        // Lanes of each 16 bytes are the farthest from each other: the sums of all lines side by side.
        let mut step = V / 2;
        while step > 0 {
            for line in 0..step {
                let (even, odd) = sums[first + 2 * line].halves(sums[first + 2 * line + 1]);
                sums[first + line] = even.plus(odd);
            }
            step /= 2;
        }
        all[first..][..V].copy_from_slice(&folded::<T, R, V>(sums[first]));
        first += V;
    }
    all
}

/// The chains of some lines' lanes, added at halved distances down to those of a register.
#[inline(always)]
fn chains<T: Registers, R: Lanes<T>, const V: usize, const G: usize, const L: usize>(
    has: Has<R>,
    (lines, is_far): ([&[T]; L], bool),
    x: &[T],
    (first, round): (usize, usize),
) -> [R; L] {
    let (len, part) = (lines[0].len(), G * V * R::LEN);
    let mut sums = [[R::splat(has, T::ZERO); G]; L];
    if const { L == 1 } && round == part && R::add_line(has, &lines[0][first.min(len)..], x, &mut sums[0]) {
        return [halved(sums[0]); L];
    }
    let lines = Beside::new(lines, len);
    let (mut at, mut rounds) = (first, x.chunks_exact(part));
    // Whole rounds by themselves: only so few instructions are unrolled early enough for sums to be in registers.
    while at + part <= len {
        let Some(x) = rounds.next() else { break };
        if const { asks::<R>() } && is_far {
            for line in lines.some(at, part) {
                prefetch_l2(line, AHEAD, part * size_of::<T>());
            }
        }
        add_round::<T, R, V, G, L, true>(has, lines.some(at, part), x, &mut sums);
        at += round;
    }
    if at < len
        && let Some(x) = rounds.next()
    {
        add_round::<T, R, V, G, L, false>(has, lines.some(at, len - at), x, &mut sums);
    }
    let mut ends = [R::splat(has, T::ZERO); L];
    for line in 0..L {
        ends[line] = halved(sums[line]);
    }
    ends
}

/// Registers added at halved distances.
#[inline(always)]
pub(super) fn halved<T, R: Lanes<T>, const G: usize>(mut sums: [R; G]) -> R {
    let mut distance = G / 2;
    while distance > 0 {
        for group in 0..distance {
            sums[group] = sums[group].plus(sums[group + distance]);
        }
        distance /= 2;
    }
    sums[0]
}

/// Adds a round of some lines, which may be less than `WHOLE`, to their chains.
#[inline(always)]
fn add_round<T: Registers, R: Lanes<T>, const V: usize, const G: usize, const L: usize, const WHOLE: bool>(
    has: Has<R>,
    lines: [&[T]; L],
    x: &[T],
    sums: &mut [[R; G]; L],
) {
    for group in 0..G {
        let from = group * V * R::LEN;
        let mut factors = [R::splat(has, T::ZERO); V];
        for j in 0..V {
            factors[j] = R::load(has, &x[(group * V + j) * R::LEN..]);
        }
        for line in 0..L {
            let columns = if const { WHOLE } || from + V * R::LEN <= lines[line].len() {
                // Without masks, which take a core several times as long.
                turned(whole::<T, R, V>(has, &lines[line][from..][..V * R::LEN]))
            } else if from < lines[line].len() {
                turned(some::<T, R, V>(has, lines[line], from))
            } else {
                continue;
            };
            for j in 0..V {
                sums[line][group] = columns[j].mul_add(factors[j], sums[line][group]);
            }
        }
    }
}

/// What each 16 bytes of a register are added to at halved distances.
#[inline(always)]
pub(super) fn folded<T: Registers, R: Lanes<T>, const V: usize>(sums: R) -> [T; V] {
    let mut all = [T::ZERO; MOST_LANES];
    sums.store(&mut all);
    let (all, _) = all.as_chunks_mut::<V>();
    let mut distance = R::LEN / V / 2;
    while distance > 0 {
        let (near, far) = all.split_at_mut(distance);
        for (near, far) in near.iter_mut().zip(far) {
            for (near, &far) in near.iter_mut().zip(&*far) {
                *near = *near + far;
            }
        }
        distance /= 2;
    }
    all[0]
}

/// The elements of a line in `V` registers, so that [`turned`] ones are added at halved distances by [`Lanes::halves`].
#[inline(always)]
pub(super) fn whole<T: Registers, R: Lanes<T>, const V: usize>(has: Has<R>, part: &[T]) -> [R; V] {
    let mut all = [R::splat(has, T::ZERO); V];
    for (place, some) in all.iter_mut().enumerate() {
        *some = R::load(has, &part[reversed::<V>(place) * R::LEN..]);
    }
    all
}

/// [`whole`] of what there is of a line from an element on, and zeros behind it.
#[inline(always)]
pub(super) fn some<T: Registers, R: Lanes<T>, const V: usize>(
    has: Has<R>,
    line: &[T],
    from: usize,
) -> [R; V] {
    let mut all = [R::splat(has, T::ZERO); V];
    for (place, some) in all.iter_mut().enumerate() {
        let from = from + reversed::<V>(place) * R::LEN;
        *some = R::load_some(has, &line[from.min(line.len())..]);
    }
    all
}

/// The place whose bits are those of `place` in reverse, of `V` ones.
#[inline(always)]
const fn reversed<const V: usize>(place: usize) -> usize {
    if V == 4 { place >> 1 | (place & 1) << 1 } else { place }
}

/// Of every 16 bytes of `V` registers the first elements, then the second ones, and so on.
#[inline(always)]
pub(super) fn turned<T, R: Lanes<T>, const V: usize>(mut registers: [R; V]) -> [R; V] {
    let mut step = V / 2;
    // Every stage puts the even elements of pairs of registers before the odd ones.
    while step > 0 {
        let all = registers;
        for pair in 0..V / 2 {
            (registers[pair], registers[V / 2 + pair]) = all[2 * pair].halves(all[2 * pair + 1]);
        }
        step /= 2;
    }
    registers
}
