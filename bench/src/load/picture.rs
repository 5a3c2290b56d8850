//! Latency over load, as a page that opens anywhere: one SVG, no script, nothing fetched.

use std::fmt::Write;

use super::report::{Report, Run};

/// The picture's size, and the frame that axes and words take, in pixels.
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 460.0;
const FRAME: f64 = 70.0;

/// A line of the picture: its name, its colour, and what of a run it shows.
type Line = (&'static str, &'static str, fn(&Run) -> f64);

const LINES: [Line; 3] = [
    ("p50", "#2b8a3e", |run| run.answers_ms.p50),
    ("p99", "#e67700", |run| run.answers_ms.p99),
    ("p99.9", "#c92a2a", |run| run.answers_ms.p99_9),
];

/// Draws all runs of a report, by what was answered a second.
pub fn page(report: &Report) -> String {
    let mut runs: Vec<&Run> = report.runs.iter().collect();
    runs.sort_by(|a, b| a.answers_per_s.total_cmp(&b.answers_per_s));
    let most_rate = runs.iter().map(|run| run.answers_per_s).fold(1.0, f64::max);
    let (least_ms, most_ms) = bounds(&runs);
    let x = |rate: f64| FRAME + (WIDTH - 2.0 * FRAME) * rate / most_rate;
    // Latencies go over decades.
    let y = |ms: f64| {
        let part = (ms.max(least_ms) / least_ms).log10() / (most_ms / least_ms).log10();
        HEIGHT - FRAME - (HEIGHT - 2.0 * FRAME) * part
    };
    let mut svg = String::new();
    let mut ms = least_ms;
    while ms <= most_ms * 1.01 {
        let (at, left, right) = (y(ms), FRAME, WIDTH - FRAME);
        let _ = write!(svg, r##"<line x1="{left}" y1="{at:.1}" x2="{right}" y2="{at:.1}" stroke="#ddd"/>"##);
        let _ = write!(
            svg,
            r#"<text x="{:.0}" y="{:.1}" text-anchor="end">{ms} ms</text>"#,
            left - 8.0,
            at + 4.0
        );
        ms *= 10.0;
    }
    for run in &runs {
        let at = x(run.answers_per_s);
        let _ = write!(
            svg,
            r#"<text x="{at:.1}" y="{:.0}" text-anchor="middle">{:.0}</text>"#,
            HEIGHT - FRAME + 20.0,
            run.answers_per_s
        );
    }
    for (nth, (name, colour, of)) in LINES.into_iter().enumerate() {
        let points: String =
            runs.iter().map(|run| format!("{:.1},{:.1} ", x(run.answers_per_s), y(of(run)))).collect();
        let _ =
            write!(svg, r#"<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>"#);
        for point in points.split_whitespace() {
            let (cx, cy) = point.split_once(',').unwrap_or_default();
            let _ = write!(svg, r#"<circle cx="{cx}" cy="{cy}" r="3" fill="{colour}"/>"#);
        }
        let at = FRAME + 70.0 * nth as f64;
        let _ = write!(svg, r#"<text x="{at}" y="{:.0}" fill="{colour}">{name}</text>"#, FRAME - 20.0);
    }
    let (middle, bottom) = (WIDTH / 2.0, HEIGHT - 16.0);
    let _ = write!(svg, r#"<text x="{middle}" y="{bottom}" text-anchor="middle">answers a second</text>"#);
    let machine = &report.machine;
    let what = runs.first().map_or(String::new(), |run| {
        format!("{} via {}, {} connections", run.case, run.via, run.connections)
    });
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>quipu bench</title>\
         <style>body{{font:14px sans-serif;margin:2em}}text{{font:12px sans-serif}}</style>\
         <h1>Latency over load</h1><p>{}</p><svg width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" \
         aria-label=\"Latency over load\">{svg}</svg><p>{}, {} cores, Linux {}</p></html>\n",
        escaped(&what),
        escaped(&machine.processor),
        machine.cores,
        escaped(&machine.kernel)
    )
}

/// Whole decades around all latencies, in milliseconds.
fn bounds(runs: &[&Run]) -> (f64, f64) {
    let all = || runs.iter().flat_map(|run| LINES.map(|(_, _, of)| of(run)));
    let least = all().fold(f64::INFINITY, f64::min).clamp(0.01, 1000.0);
    let most = all().fold(0.0, f64::max).max(least * 10.0);
    (10f64.powf(least.log10().floor()), 10f64.powf(most.log10().ceil()))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
