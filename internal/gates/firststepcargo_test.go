package gates_test

import (
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/lib/hosttest"
)

func crateOf(name, more string) string {
	return "[package]\nname = \"" + name + "\"\nversion = \"0.1.0\"\nedition = \"2021\"\n" + more
}

// fiveCrates is a workspace in which order is built from price, and the tests of paper see
// a feature of price that order alone turns on.
var fiveCrates = map[string]string{
	"Cargo.toml":       "[workspace]\nresolver = \"2\"\nmembers = [\"price\", \"order\", \"paper\", \"mail\", \"log\"]\n",
	"price/Cargo.toml": crateOf("price", "\n[features]\nloud = []\n"),
	"price/src/lib.rs": "pub fn of(n: u32) -> u32 { 2 * n }\n#[cfg(feature = \"loud\")]\npub const LOUD: bool = " +
		"true;\n#[cfg(not(feature = \"loud\"))]\npub const LOUD: bool = false;\n",
	"price/tests/it.rs": "#[test]\nfn prices() { assert_eq!(price::of(1) % 2, 0); }\n",
	"order/Cargo.toml":  crateOf("order", "\n[dependencies]\nprice = { path = \"../price\", features = [\"loud\"] }\n"),
	"order/src/lib.rs": "pub fn sum(n: u32) -> u32 { price::of(n) + 1 }\n#[cfg(test)]\nmod t {\n    #[test]\n    fn " +
		"sums() { assert_eq!(super::sum(2), 5); }\n}\n",
	"paper/Cargo.toml": crateOf("paper", "\n[dependencies]\nprice = { path = \"../price\" }\n"),
	"paper/src/lib.rs": "#[test]\nfn loud() { assert!(price::LOUD); }\n",
	"mail/Cargo.toml":  crateOf("mail", ""), "mail/src/lib.rs": "pub const GREETING: &str = \"Hello\";\n",
	"mail/tests/mail.rs": "#[test]\nfn greets() { assert_ne!(mail::GREETING, \"\"); }\n",
	"log/Cargo.toml":     crateOf("log", ""), "log/src/lib.rs": "",
}

// Of a slow workspace a ticket runs the crates that it touches and those that are built from
// them. A part that is red may be so for want of the others' features, and one without tests
// shows nothing: then all is run (GAT-3).
func TestFirstStepOfAWorkspace(t *testing.T) {
	hosttest.Long(t, "another runner in two steps; TestFirstStep shows Go's")
	p := inSteps(t, fiveCrates)
	if c := p.task.Baseline.Checks[0]; !c.Passed || c.Counts.Passed != 4 {
		t.Fatalf("on the base: %+v", c)
	}
	if c, r := p.judgeChange("greets",
		map[string]string{"mail/src/lib.rs": "pub const GREETING: &str = \"Good day\";\n"}); !r.Passed || c.Part == nil ||
		*c.Part != (company.TestPart{Ran: 1, Of: 5, Unit: "crate"}) || c.Counts.Passed != 1 || len(c.Gone) > 0 {
		t.Errorf("one crate: %+v", r)
	}
	if c, r := p.judgeChange("forgets",
		map[string]string{"mail/tests/mail.rs": "", "mail/src/lib.rs": "#[test]\nfn other() {}\n"}); !r.Passed ||
		c.Part == nil || !slices.Equal(c.Gone, []string{"mail tests/mail.rs greets"}) {
		t.Errorf("a test that is gone: %+v", r)
	}
	if c, r := p.judgeChange("breaks",
		map[string]string{"order/src/lib.rs": strings.Replace(fiveCrates["order/src/lib.rs"], "+ 1", "+ 2", 1)}); r.Passed ||
		c.Part != nil || !slices.Equal(c.NewFailures(), []string{"order src/lib.rs t::sums"}) || c.Counts.Passed != 3 {
		t.Errorf("a part that is red: %+v", r)
	}
	if c, r := p.judgeChange("alone",
		map[string]string{"paper/src/lib.rs": fiveCrates["paper/src/lib.rs"] + "#[test]\nfn more() {}\n"}); !r.Passed ||
		c.Part != nil || c.Counts.Passed != 5 {
		t.Errorf("a crate that lacks a feature by itself: %+v", r)
	}
	if c, r := p.judgeChange("untested", map[string]string{"log/src/lib.rs": "pub const N: u32 = 1;\n"}); !r.Passed ||
		c.Part != nil || c.Counts.Passed != 4 {
		t.Errorf("a crate without tests: %+v", r)
	}
	if c, r := p.judgeChange("most",
		map[string]string{"price/src/lib.rs": fiveCrates["price/src/lib.rs"] + "// more\n"}); !r.Passed || c.Part != nil ||
		c.Counts.Passed != 4 {
		t.Errorf("more than half of the crates: %+v", r)
	}
}
