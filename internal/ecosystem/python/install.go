package python

import (
	"path"
	"strings"

	"company/internal/ecosystem"
)

const venv = "/opt/venv"

// says is how pip fails.
var says = ecosystem.Words{
	Permanent: []string{
		"ERROR: No matching distribution", "ERROR: Could not find a version", "ERROR: Invalid requirement", "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES",
		"ERROR: ResolutionImpossible", "ERROR: Cannot install",
	},
	Telling: []string{"ERROR:"},
}

// Installs are a layer of wheels, in an environment of their own that sees
// Debian's packages too, and the path to modules of the tree. A package without a
// wheel would run its set-up: it is left out.
func (e Ecosystem) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	r, err := readRequirements(s)
	if err != nil {
		return nil, err
	}
	var out []ecosystem.Install
	if len(r.pins)+len(r.lines) > 0 {
		out = append(out, r.wheelsLayer())
	}
	if len(r.sources) > 0 {
		out = append(out, ecosystem.Install{
			Layer: "pypath", Why: "modules in " + strings.Join(r.sources, ", "), What: "the path to modules of the tree", Inputs: r.sources,
			Collector: func() ecosystem.Collector { return pathFile{s.Places(), r.sources} },
		})
	}
	plugins, err := absentLayer(s)
	if plugins != nil {
		out = append(out, *plugins)
	}
	return out, err
}

// pathFile makes a project's own modules importable where they lie in a src
// directory, as an editable installation would.
type pathFile struct {
	places ecosystem.Places
	dirs   []string
}

// Place has none: nothing runs for this layer.
func (pathFile) Place(ecosystem.Entry) (_ ecosystem.Entry, ok bool) { return }

// Files is the list of the directories.
func (f pathFile) Files() []ecosystem.ImageFile {
	var text strings.Builder
	for _, d := range f.dirs {
		text.WriteString(path.Join(f.places.Workspace, d) + "\n")
	}
	return []ecosystem.ImageFile{{Path: "usr/local/lib/python" + debianVersion + "/dist-packages/company-project.pth", Text: []byte(text.String())}}
}
