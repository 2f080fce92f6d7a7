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
	goLineRE        = regexp.MustCompile(`(?m)^\s*(go|toolchain)\s+(?:go)?([0-9][0-9A-Za-z.]*)`)
	rustChannelRE   = regexp.MustCompile(`(?m)^\s*channel\s*=\s*["']([^"'\n]+)["']`)
	plainVersionRE  = regexp.MustCompile(`^v?([0-9]+(?:\.[0-9]+)*)$`)
	versionDigitsRE = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*`)
)

// versionNotes compares what the files of a tree wish for with what the image
// has. A difference is only reported: the gates show whether it matters.
func versionNotes(ctx context.Context, tree treeFiles, t toolSet, want []string) ([]string, error) {
	var notes []string
	read := func(names ...string) (string, string, error) {
		for _, n := range names {
			if tree.hasFile(n) {
				text, err := tree.readText(ctx, n)
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
		for _, m := range goLineRE.FindAllStringSubmatch(text, -1) {
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
		if m := plainVersionRE.FindStringSubmatch(text); m != nil && versionDiffers(m[1], t.node.version, 1) {
			note(file, "node", m[1], t.node.version)
		}
	}
	if slices.Contains(want, "python") && slices.Contains(t.packages, "python3") {
		file, text, err := read(".python-version")
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(text, "\n")
		if m := plainVersionRE.FindStringSubmatch(strings.TrimSpace(first)); m != nil && versionDiffers(m[1], debianPython, 2) {
			note(file, "python", m[1], debianPython)
		}
	}
	if t.rust != nil {
		file, text, err := read("rust-toolchain.toml", "rust-toolchain")
		if err != nil {
			return nil, err
		}
		channel := text
		if m := rustChannelRE.FindStringSubmatch(text); m != nil {
			channel = m[1]
		}
		if channel != "" && channel != "stable" && versionDiffers(versionDigitsRE.FindString(channel), t.rust.version, 2) {
			note(file, "rust", channel, t.rust.version)
		}
	}
	return notes, nil
}

// versionDiffers compares the first parts of two versions, as many as the first has.
// No version at all differs.
func versionDiffers(wanted, has string, parts int) bool {
	w, h := strings.Split(wanted, "."), strings.Split(has, ".")
	n := min(parts, len(w), len(h))
	return wanted == "" || !slices.Equal(w[:n], h[:n])
}
