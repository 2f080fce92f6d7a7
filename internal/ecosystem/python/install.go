package python

import (
	"path"
	"strings"

	"company/internal/ecosystem"
)

const venv = "/opt/venv"

// says describes pip's errors.
var says = ecosystem.Words{
	Permanent: []string{
		"ERROR: No matching distribution", "ERROR: Could not find a version", "ERROR: Invalid requirement",
		"ERROR: THESE PACKAGES DO NOT MATCH THE HASHES",
		"ERROR: ResolutionImpossible", "ERROR: Cannot install",
	},
	Telling: []string{"ERROR:"},
}

// Installs returns a layer of wheels, in a virtual environment that also sees Debian's packages, and a
// layer with the path to modules of the tree. A package without a wheel is left out, because installing it
// would run its setup.
func (e Ecosystem) Installs(sources ecosystem.Sources) ([]ecosystem.Install, error) {
	requirements, err := readRequirements(sources)
	if err != nil {
		return nil, err
	}
	var out []ecosystem.Install
	if len(requirements.pins)+len(requirements.lines) > 0 {
		out = append(out, requirements.wheelsLayer())
	}
	if len(requirements.sources) > 0 {
		out = append(out, ecosystem.Install{
			Layer: "pypath", Why: "modules in " + strings.Join(requirements.sources, ", "),
			What:      "the path to modules of the tree",
			Inputs:    requirements.sources,
			Collector: func() ecosystem.Collector { return pathFile{sources.Places(), requirements.sources} },
		})
	}
	plugins, err := absentLayer(sources)
	if plugins != nil {
		out = append(out, *plugins)
	}
	return out, err
}

// pathFile makes a project's own modules in src importable, as an editable installation would.
type pathFile struct {
	places ecosystem.Places
	dirs   []string
}

// Place returns false, since this layer runs no steps.
func (pathFile) Place(ecosystem.Entry) (_ ecosystem.Entry, ok bool) { return }

// Files returns a file with the list of the directories.
func (f pathFile) Files() []ecosystem.ImageFile {
	var text strings.Builder
	for _, d := range f.dirs {
		text.WriteString(path.Join(f.places.Workspace, d) + "\n")
	}
	return []ecosystem.ImageFile{{Path: "usr/local/lib/python" + debianVersion + "/dist-packages/company-project.pth",
		Text: []byte(text.String())}}
}
