package python

import (
	_ "embed" // the plugin
	"path"

	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// absentPlugins stands in an image for plugins of pytest that cannot be had.
//
//go:embed absent_plugins.py
var absentPlugins []byte

var addoptsRE = lazyregexp.New(`(?m)^\s*addopts\s*=`)

// absentLayer is the layer of what stands for absent plugins, where the project's
// own settings give pytest options; nil: they do not. pytest ends without a test
// at an option of a plugin that is not there.
func absentLayer(s ecosystem.Sources) (*ecosystem.Install, error) {
	settings := s.FilesNamed("pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", ".pytest.ini")
	texts, err := s.ReadTexts(settings[:min(len(settings), ecosystem.MaxProjects)])
	if err != nil {
		return nil, err
	}
	for _, file := range settings {
		if addoptsRE.Match(texts[file]) {
			return &ecosystem.Install{
				Layer: "pyplugins", Why: "what stands for plugins of pytest that are not there", What: "the same", Inputs: []string{s.HashText(string(absentPlugins))},
				Collector: func() ecosystem.Collector { return pluginFiles{} },
			}, nil
		}
	}
	return nil, nil
}

type pluginFiles struct{}

// Place has none: nothing runs for this layer.
func (pluginFiles) Place(ecosystem.Entry) (_ ecosystem.Entry, ok bool) { return }

// Files are the plugin, and how pytest finds it.
func (pluginFiles) Files() []ecosystem.ImageFile {
	const name = "company_absent_plugins"
	in := func(file string) string {
		return path.Join("usr/local/lib/python"+debianVersion+"/dist-packages", file)
	}
	return []ecosystem.ImageFile{
		{Path: in(name + ".py"), Text: absentPlugins},
		{Path: in(name + "-1.0.dist-info/METADATA"), Text: []byte("Metadata-Version: 2.1\nName: company-absent-plugins\nVersion: 1.0\n")},
		{Path: in(name + "-1.0.dist-info/entry_points.txt"), Text: []byte("[pytest11]\ncompany_absent_plugins = " + name + "\n")},
	}
}
