package python

import (
	_ "embed" // the plugin
	"path"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// absentPlugins is a pytest plugin that replaces plugins which cannot be installed.
//
//go:embed absent_plugins.py
var absentPlugins []byte

var addoptsRE = lazyregexp.New(`(?m)^\s*addopts\s*=`)

// absentLayer returns the layer with that plugin if the project's settings give pytest options, and nil
// otherwise. Without it, pytest stops before the first test at an option of a missing plugin.
func absentLayer(sources ecosystem.Sources) (*ecosystem.Install, error) {
	settings := sources.FilesNamed("pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", ".pytest.ini")
	texts, err := sources.ReadTexts(settings[:min(len(settings), ecosystem.MaxProjects)])
	if err != nil {
		return nil, err
	}
	for _, file := range settings {
		if addoptsRE.Match(texts[file]) {
			return &ecosystem.Install{
				Layer: "pyplugins", Why: "what stands for plugins of pytest that are not there", What: "the same",
				Inputs:    []string{sources.HashText(string(absentPlugins))},
				Collector: func() ecosystem.Collector { return pluginFiles{} },
			}, nil
		}
	}
	return nil, nil
}

type pluginFiles struct{}

// Place returns false, since this layer runs no steps.
func (pluginFiles) Place(ecosystem.Entry) (_ ecosystem.Entry, ok bool) { return }

// Files returns the plugin and the metadata by which pytest finds it.
func (pluginFiles) Files() []ecosystem.ImageFile {
	const name = "company_absent_plugins"
	in := func(file string) string {
		return path.Join("usr/local/lib/python"+debianVersion+"/dist-packages", file)
	}
	return []ecosystem.ImageFile{
		{Path: in(name + ".py"), Text: absentPlugins},
		{Path: in(name + "-1.0.dist-info/METADATA"),
			Text: []byte("Metadata-Version: 2.1\nName: company-absent-plugins\nVersion: 1.0\n")},
		{Path: in(name + "-1.0.dist-info/entry_points.txt"),
			Text: []byte("[pytest11]\ncompany_absent_plugins = " + name + "\n")},
	}
}
