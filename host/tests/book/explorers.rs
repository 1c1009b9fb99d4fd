//! What explorers answer, against the library asked directly and against what the chapters say; and what they refuse.

use super::*;
use warpwise_simt::device;
use warpwise_simt::occupancy::{Request as Asked, calculate};

#[tokio::test]
async fn the_calculator_is_the_librarys() {
    let book = Book::new("occupancy");
    for (name, block, registers, shared) in [
        ("RTX 5070", 256, 40, 0),
        ("RTX 5070", 256, 41, 0),
        ("RTX 5070", 1024, 32, 0),
        ("H200", 768, 32, 0),
        ("RTX 5070", 256, 32, 16_001),
    ] {
        let query = format!("device={}&block={block}&registers={registers}&shared={shared}", name.replace(' ', "+"));
        let answer = book.explore(&format!("occupancy?{query}")).await;
        let request = Asked { static_shared_bytes: shared, ..Asked::new(block, registers) };
        let found = calculate(&device::find(name).expect("a device").limits, &request).expect("a request");
        assert_eq!(answer["blocks_per_sm"], found.blocks_per_sm, "{query}");
        assert_eq!(answer["warps_per_sm"], found.warps_per_sm(), "{query}");
        let deciding =
            answer["limits"].as_array().expect("limits").iter().filter(|limit| limit["decides"] == true).count();
        assert_eq!(deciding, found.limiters.len(), "{query}: {answer}");
        let here = answer["by_registers"][registers as usize - 1][1].as_f64().expect("a point");
        assert!((here - 100.0 * found.theoretical()).abs() < 1e-9, "{query}");
    }
    let cliff = book.explore("occupancy?device=RTX+5070&block=256&registers=40").await;
    assert!(cliff["steps"][0].as_str().is_some_and(|step| step.starts_with("from 41 registers on: 83")), "{cliff}");
}

#[tokio::test]
async fn the_calculator_knows_where_the_labs_kernels_stand() {
    let book = Book::new("kernels");
    let answer = book.explore("occupancy/kernels?device=RTX+5070").await;
    let kernels = answer["kernels"].as_array().expect("kernels");
    assert!(kernels.len() > 20, "{answer}");
    let heavy = kernels.iter().find(|kernel| kernel["kernel"] == "heavy").expect("heavy is among them");
    assert!(heavy["registers"].as_u64().is_some_and(|registers| registers > 48), "{heavy}");
}

#[tokio::test]
async fn a_thread_knows_what_the_chapter_says() {
    let book = Book::new("ids");
    let answer = book
        .explore("ids?device=RTX+5070&grid_x=12&grid_y=1&block_x=250&block_y=1&block_z=1&block=11&thread=249")
        .await;
    assert_eq!(
        (&answer["warp"], &answer["lane"], &answer["index_1d"]),
        (&7.into(), &25.into(), &2999.into()),
        "{answer}"
    );
    assert_eq!(answer["same_thread_x"], 12);
    assert_eq!(answer["lanes"].as_array().map(Vec::len), Some(250));
    let square =
        book.explore("ids?device=H200&grid_x=1&grid_y=1&block_x=16&block_y=16&block_z=1&block=0&thread=37").await;
    assert_eq!((&square["thread"], &square["lane"]), (&serde_json::json!([5, 2, 0]), &5.into()));
    assert_eq!((&square["lane_is_x_mod_32"], &square["sms_used"]), (&true.into(), &1.into()), "{square}");
}

#[tokio::test]
async fn a_block_shape_costs_the_sectors_that_the_lab_counts() {
    let book = Book::new("shapes");
    for (x, y, z, offset, sectors, rows) in [
        (32, 8, 1, 0, 4, 1),
        (16, 16, 1, 0, 4, 2),
        (8, 32, 1, 0, 4, 4),
        (4, 64, 1, 0, 8, 8),
        (32, 8, 1, 1, 5, 1),
        (8, 4, 8, 0, 4, 4),
    ] {
        let query =
            format!("shapes?x={x}&y={y}&z={z}&width=256&height=256&pitch=256&bytes=4&offset={offset}&thread=37");
        let answer = book.explore(&query).await;
        let touched = answer["sectors"].as_array().expect("sectors");
        assert_eq!((touched.len(), &answer["rows"]), (sectors, &rows.into()), "{query}: {answer}");
        assert_eq!((&answer["warp"], &answer["lane"]), (&1.into(), &5.into()), "{query}");
        let lanes: usize = touched.iter().filter_map(|sector| sector["lanes"].as_array()).map(Vec::len).sum();
        assert_eq!(lanes, 32, "each lane of 4 bytes is in one sector: {query}");
    }
    let edge = book.explore("shapes?x=32&y=8&z=1&width=20&height=700&pitch=32&bytes=4&offset=0&thread=0").await;
    assert_eq!(edge["storing_lanes"], 20, "lanes beyond the image store nothing");
}

#[tokio::test]
async fn addresses_become_the_sectors_and_passes_of_the_labs() {
    let book = Book::new("memory");
    for (stride, offset, bytes, padding, sectors, passes) in [
        (1, 0, 4, 0, 4, 1),
        (1, 4, 4, 0, 5, 1),
        (2, 0, 4, 0, 8, 2),
        (32, 0, 4, 0, 32, 32),
        (32, 0, 4, 1, 32, 1),
        (33, 0, 4, 0, 32, 1),
        (0, 0, 4, 0, 1, 1),
        (1, 0, 8, 0, 8, 2),
        (1, 0, 16, 0, 16, 4),
        (1, 0, 1, 0, 1, 1),
    ] {
        let query = format!("memory?stride={stride}&offset={offset}&bytes={bytes}&padding={padding}&lanes=32");
        let answer = book.explore(&query).await;
        assert_eq!(
            (&answer["sector_count"], &answer["passes"]),
            (&sectors.into(), &passes.into()),
            "{query}: {answer}"
        );
        let used: usize = answer["sectors"]
            .as_array()
            .expect("sectors")
            .iter()
            .filter_map(|one| one["bytes"].as_array())
            .map(Vec::len)
            .sum();
        assert_eq!(answer["bytes_used"], used, "{query}");
    }
}

#[tokio::test]
async fn what_is_out_of_range_is_refused_with_the_range() {
    let book = Book::new("ranges");
    for (path, says) in [
        ("occupancy?device=RTX+5070&block=0&registers=40", "1 to 1024"),
        ("occupancy?device=RTX+5070&block=256&registers=999999999999", "1 to 255"),
        ("occupancy?device=RTX+5070&block=256&registers=40&carveout=300", "0 to 100"),
        ("occupancy?device=Voodoo&block=256&registers=40", "RTX 5070"),
        ("occupancy?device=RTX+5070&block=x&registers=40", "block"),
        ("occupancy?device=RTX+5070&block=256", "registers"),
        ("ids?device=RTX+5070&grid_x=4096&grid_y=512&block_x=1024&block_y=1&block_z=1&block=0&thread=0", "262144"),
        ("ids?device=RTX+5070&grid_x=1&grid_y=1&block_x=1024&block_y=1024&block_z=1&block=0&thread=0", "1 to 1024"),
        ("ids?device=RTX+5070&grid_x=1&grid_y=1&block_x=32&block_y=1&block_z=1&block=1&thread=0", "0 to 0"),
        ("shapes?x=32&y=8&z=1&width=9&height=9&pitch=4&bytes=4&thread=0", "9 to"),
        ("shapes?x=32&y=8&z=1&width=9&height=9&pitch=9&bytes=3&thread=0", "1, 2, 4, 8 or 16"),
        ("memory?stride=1&offset=3&bytes=4&padding=0&lanes=32", "multiple of 4"),
        ("memory?stride=1&offset=0&bytes=4&padding=0&lanes=33", "1 to 32"),
        ("memory?stride=1&offset=0&bytes=4&padding=0&lanes=32&more=1", "more"),
    ] {
        book.refuses(path, says).await;
    }
}
