package image

import (
	"context"
	"fmt"
	"go/version"
	"regexp"
	"slices"
	"strings"

	"company/internal/safetext"
)

// debianPython is the Python of debianSuite.
const debianPython = "3.11"

var (
	goLine        = regexp.MustCompile(`(?m)^\s*(go|toolchain)\s+(?:go)?([0-9][0-9A-Za-z.]*)`)
	rustChannel   = regexp.MustCompile(`(?m)^\s*channel\s*=\s*["']([^"'\n]+)["']`)
	plainVersion  = regexp.MustCompile(`^v?([0-9]+(?:\.[0-9]+)*)$`)
	versionDigits = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*`)
)

// versionNotes compares what the files of a tree wish for with what the image
// has. A difference is said and not more: the gates tell whether it matters.
func versionNotes(ctx context.Context, tree files, t tools, want []string) ([]string, error) {
	var notes []string
	read := func(names ...string) (string, string, error) {
		for _, n := range names {
			if tree.has(n) {
				text, err := tree.text(ctx, n)
				return n, strings.TrimSpace(string(text)), err
			}
		}
		return "", "", nil
	}
	note := func(file, tool, wants, has string) {
		notes = append(notes, fmt.Sprintf("%s wants %s %s, the image has %s", file, tool, safetext.Cut(safetext.StripLine(wants), 60), has))
	}
	if t.goRoot != nil {
		file, text, err := read("go.mod")
		if err != nil {
			return nil, err
		}
		for _, m := range goLine.FindAllStringSubmatch(text, -1) {
			if wanted := "go" + m[2]; m[1] == "go" && version.IsValid(wanted) && version.Compare(wanted, t.goRoot.version) > 0 {
				note(file, "go", m[2], strings.TrimPrefix(t.goRoot.version, "go"))
			}
		}
	}
	if t.node != nil {
		file, text, err := read(".nvmrc", ".node-version")
		if err != nil {
			return nil, err
		}
		if m := plainVersion.FindStringSubmatch(text); m != nil && differs(m[1], t.node.version, 1) {
			note(file, "node", m[1], t.node.version)
		}
	}
	if slices.Contains(want, "python") && slices.Contains(t.packages, "python3") {
		file, text, err := read(".python-version")
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(text, "\n")
		if m := plainVersion.FindStringSubmatch(strings.TrimSpace(first)); m != nil && differs(m[1], debianPython, 2) {
			note(file, "python", m[1], debianPython)
		}
	}
	if t.rust != nil {
		file, text, err := read("rust-toolchain.toml", "rust-toolchain")
		if err != nil {
			return nil, err
		}
		channel := text
		if m := rustChannel.FindStringSubmatch(text); m != nil {
			channel = m[1]
		}
		if channel != "" && channel != "stable" && differs(versionDigits.FindString(channel), t.rust.version, 2) {
			note(file, "rust", channel, t.rust.version)
		}
	}
	return notes, nil
}

// differs compares the first parts of two versions, as many as the first has.
// No version at all differs.
func differs(wanted, has string, parts int) bool {
	w, h := strings.Split(wanted, "."), strings.Split(has, ".")
	n := min(parts, len(w), len(h))
	return wanted == "" || !slices.Equal(w[:n], h[:n])
}
