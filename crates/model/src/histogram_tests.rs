use super::*;
use proptest::prelude::*;

#[test]
fn buckets_tile_the_range_without_gap_or_overlap() {
    let mut next = 0;
    for bucket in 0..BUCKETS {
        let (low, high) = bucket_range(bucket);
        assert_eq!(low, next, "bucket {bucket} starts where its neighbour ends");
        assert_eq!(bucket_of(low), bucket);
        assert_eq!(bucket_of(high), bucket);
        next = high + 1;
    }
    assert_eq!(next, MAX_TRACKED_NS + 1);
}

#[test]
fn values_beyond_the_range_keep_their_exact_maximum() {
    let mut histogram = Histogram::new();
    histogram.record(u64::MAX);
    assert_eq!(histogram.max(), Some(u64::MAX));
    assert_eq!(histogram.buckets().collect::<Vec<_>>(), [(BUCKETS - 1, 1)]);
}

#[test]
fn counts_do_not_wrap_at_32_bits() {
    let near = u64::from(u32::MAX);
    let low = bucket_range(1000).0;
    let mut fresh = Histogram::from_parts([(1000, near)], 1, low, low).unwrap();
    fresh.record(low);
    fresh.record(low);
    assert_eq!(fresh.buckets().collect::<Vec<_>>(), [(1000, near + 2)]);
    fresh.clear();
    assert_eq!(fresh, Histogram::new());
    assert_eq!(
        Histogram::from_parts([(1000, 1)], 1, 1, 2),
        None,
        "bucket outside min..max"
    );
}

#[test]
fn extremes_without_a_count_contradict_the_rest() {
    let (low, high) = (bucket_range(1000).0, bucket_range(1010).1);
    let of = |buckets: &[(usize, u64)]| {
        let buckets = buckets.iter().copied();
        Histogram::from_parts(buckets, 9, low, high)
    };
    assert!(of(&[(1000, 1), (1010, 1)]).is_some());
    // Stored, it would come back as two values at the minimum.
    assert_eq!(of(&[(1005, 2)]), None);
    assert_eq!(of(&[(1000, 2)]), None);
    assert_eq!(of(&[(1010, 2)]), None);
}

#[test]
fn more_values_than_can_be_counted_contradict_one_another() {
    let (low, high) = (bucket_range(1000).0, bucket_range(1001).1);
    let of = |more: u64| {
        let buckets = [(1000, u64::MAX - 1), (1001, more)];
        Histogram::from_parts(buckets, 9, low, high).map(|histogram| histogram.count())
    };
    assert_eq!(of(1), Some(u64::MAX));
    assert_eq!(of(2), None);
}

#[test]
fn an_empty_histogram_has_no_statistics() {
    let histogram = Histogram::new();
    assert_eq!(histogram.quantile(0.5), None);
    assert_eq!(histogram.mean(), None);
    assert_eq!(histogram.min(), None);
    assert_eq!(histogram.buckets().count(), 0);
}

fn recorded(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    for value in values {
        histogram.record(*value);
    }
    histogram
}

proptest! {
    #[test]
    fn reported_quantiles_are_within_the_promised_error(
        mut values in prop::collection::vec(1u64..1 << 42, 1..400),
        quantile in 0.0f64..1.0,
    ) {
        let histogram = recorded(&values);
        values.sort_unstable();
        let rank = ((quantile * values.len() as f64).ceil() as usize).max(1);
        let exact = values[rank - 1] as f64;
        let reported = histogram.quantile(quantile).unwrap() as f64;
        prop_assert!((reported - exact).abs() <= exact * MAX_RELATIVE_ERROR + 0.5);
    }

    #[test]
    fn merging_equals_recording_everything_in_one(
        left in prop::collection::vec(any::<u64>(), 0..200),
        right in prop::collection::vec(any::<u64>(), 0..200),
    ) {
        let mut merged = recorded(&left);
        merged.merge(&recorded(&right));
        let both: Vec<u64> = left.iter().chain(&right).copied().collect();
        prop_assert_eq!(merged, recorded(&both));
    }

    #[test]
    fn parts_rebuild_the_same_histogram(values in prop::collection::vec(any::<u64>(), 1..200)) {
        let histogram = recorded(&values);
        let rebuilt = Histogram::from_parts(
            histogram.buckets(), histogram.sum(), histogram.min().unwrap(), histogram.max().unwrap(),
        );
        prop_assert_eq!(rebuilt, Some(histogram));
    }

    #[test]
    fn the_order_of_parts_and_the_way_counts_are_kept_change_nothing(
        mut parts in prop::collection::btree_map(0usize..BUCKETS, 1u64..1 << 34, 1..60),
        extra in any::<u64>(),
    ) {
        let extra_bucket = bucket_of(extra);
        parts.entry(extra_bucket).or_insert(1);
        let of = |b: &usize| bucket_range(*b);
        let (min, max) = (of(parts.keys().next().unwrap()).0, of(parts.keys().last().unwrap()).1);
        let up = parts.iter().map(|(b, n)| (*b, *n));
        let down = parts.iter().rev().map(|(b, n)| (*b, *n));
        let mut up = Histogram::from_parts(up, 9, min, max).unwrap();
        let mut down = Histogram::from_parts(down, 9, min, max).unwrap();
        prop_assert_eq!(&up, &down);
        prop_assert_eq!(up.buckets().collect::<Vec<_>>(), parts.clone().into_iter().collect::<Vec<_>>());
        up.record(extra);
        down.record(extra);
        prop_assert_eq!(&up, &down);
        prop_assert_eq!(up.buckets().map(|(_, n)| n).sum::<u64>(), up.count());
        let mut both = Histogram::new();
        both.merge(&up);
        both.merge(&down);
        prop_assert_eq!(both.count(), 2 * up.count());
        prop_assert_eq!(both.quantile(0.5), up.quantile(0.5));
    }

    #[test]
    fn clearing_leaves_nothing_behind(values in prop::collection::vec(any::<u64>(), 0..200)) {
        let mut histogram = recorded(&values);
        histogram.clear();
        prop_assert_eq!(histogram, Histogram::new());
    }
}
