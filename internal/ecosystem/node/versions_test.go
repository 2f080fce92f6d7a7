package node

import (
	"strings"
	"testing"
)

// Ranges are npm's, as its own documentation has them.
func TestRanges(t *testing.T) {
	for text, c := range map[string]struct{ in, out string }{
		"*":                      {"0.0.1 18.0.0 26.1.1", ""},
		">=18":                   {"18.0.0 20.1.0", "17.9.9"},
		">= 18.3":                {"18.3.0 18.10.0", "18.2.9"},
		">18":                    {"19.0.0", "18.0.0 18.20.8"},
		">18.2":                  {"18.3.0", "18.2.9"},
		"<20":                    {"19.9.9 1.0.0", "20.0.0"},
		"<=20":                   {"20.99.0", "21.0.0"},
		"<=20.1":                 {"20.1.9", "20.2.0"},
		"^18.17.0 || >=20.5.0":   {"18.17.0 18.20.8 20.5.0 22.0.0", "18.16.0 19.0.0 20.4.9"},
		"^20 || ^22":             {"20.0.0 22.9.9", "21.0.0 23.0.0"},
		"^0.2.3":                 {"0.2.3 0.2.9", "0.3.0 0.2.2"},
		"^0.0.3":                 {"0.0.3", "0.0.4"},
		"^0":                     {"0.9.9", "1.0.0"},
		"~20.1":                  {"20.1.0 20.1.9", "20.2.0 20.0.9"},
		"~20":                    {"20.0.0 20.9.9", "21.0.0"},
		"~>20.1.2":               {"20.1.2 20.1.9", "20.1.1 20.2.0"},
		"18.x":                   {"18.0.0 18.20.8", "19.0.0"},
		"20":                     {"20.0.0 20.20.2", "21.0.0 19.9.9"},
		"v20.1.2":                {"20.1.2", "20.1.3"},
		"=20.1":                  {"20.1.0 20.1.9", "20.2.0"},
		"18 - 20":                {"18.0.0 20.9.9", "21.0.0 17.9.9"},
		"18.2.0 - 20.1.0":        {"18.2.0 20.1.0", "20.1.1 18.1.9"},
		">=18 <21":               {"18.0.0 20.9.9", "21.0.0 17.0.0"},
		">= 16.0.0  < 19.0.0":    {"16.0.0 18.9.9", "19.0.0"},
		">=14 <16 || >=18 !==19": {"", ""},
		"latest":                 {"", ""}, "": {"", ""}, "20.1.2-rc.1": {"", ""}, strings.Repeat("1||", 100): {"", ""},
	} {
		r, ok := parseRange(text)
		if ok != (c.in != "") {
			t.Errorf("%q is a range: %v", text, ok)
		}
		for _, v := range strings.Fields(c.in) {
			if !r.containsVersion(parseParts(v)) {
				t.Errorf("%s is not in %q", v, text)
			}
		}
		for _, v := range strings.Fields(c.out) {
			if r.containsVersion(parseParts(v)) {
				t.Errorf("%s is in %q", v, text)
			}
		}
	}
}

// What is asked for in the files of version managers, and what bounds a manifest.
func TestReadWish(t *testing.T) {
	const has = "20.20.2"
	for text, want := range map[string]string{
		"20": "", "v20.1.0": "", "22": "22", "v22.3": "22.3", "18.17.1": "18.17.1", "lts/*": "", "lts/jod": "22", "iron": "",
		"node": "", "99.1.2.3": "",
		"golang 1.22\nnodejs 22.1.0 # why\n": "22.1.0", "nodejs 20.3.0": "", "python 3.12": "",
		`{"engines":{"node":">=18"}}`: "", `{"engines":{"node":">=22"}}`: ">=22", `{"engines":{"node":"^18 || ^20"}}`: "",
		`{"engines":{"node":" 18.x "}}`: "18.x",
		`{"engines":["node >= 22"]}`:    "", `{"engines":{"node":22}}`: "", `{"engines":{"node":"lots"}}`: "",
		`{}`: "", `{{`: "",
		`{"volta":{"node":"22.2.0"},"engines":{"node":">=18"}}`: "22.2.0",
		`{"volta":{"node":"20.2.0"},"engines":{"node":">=22"}}`: "",
	} {
		if wants, hasText := readWish(text, has); wants != want || want != "" && hasText != has {
			t.Errorf("%q wants %q, has %q; want %q", text, wants, hasText, want)
		}
	}
}

// A version that was named is taken; else the newest of the lowest major version
// with long support that will do.
func TestChooseVersion(t *testing.T) {
	all := strings.Fields(
		"0.12.0 16.20.0 18.1.0 18.20.8 19.9.0 20.1.0 20.20.2 21.0.0 22.3.0 22.22.1 23.1.0 24.10.0 25.0.0 25.1.0-rc.1 x")
	for wants, want := range map[string]string{
		"22": "22.22.1", "22.3": "22.3.0", "22.3.0": "22.3.0", "22.4.0": "22.22.1", ">=21": "22.22.1", ">=23": "24.10.0",
		"23": "23.1.0", "25": "25.0.0", "16": "", "99": "", "99.1.1": "",
		"<19": "18.20.8", "^19 || ^20": "20.20.2", "*": "18.20.8", "nonsense": "", "": "",
	} {
		if got, shown := chooseVersion(wants, all); got != want || shown != want {
			t.Errorf("%q is %q (%q), want %q", wants, got, shown, want)
		}
	}
}
