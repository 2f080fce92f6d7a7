package python

import (
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

// A project that declares no package has Debian's of what its files import.
func TestImportsOfAProjectThatDeclaresNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"a list at the root", map[string]string{"requirements.txt": "six\n", "a.py": "import yaml\n"}, ""},
		{"names of modules and of packages",
			map[string]string{"lib/a.py": "import polib, os\nfrom PIL.Image import new as make\nimport yaml as y, " +
				"dateutil.parser  # late\ntry:\n    import numpy\nexcept ImportError:\n    pass\n",
				"docs/conf.py": "import torch\n"}, "python3-dateutil python3-pil python3-polib python3-yaml"},
		{"modules of its own",
			map[string]string{"lib/polib.py": "", "yaml/load.py": "",
				"a.py": "import polib\nfrom yaml import load\nfrom . import six\n"}, ""},
		{"prose and strings",
			map[string]string{"a.py": "'''\nimport yaml into the page\nfrom requests we read\n'''\nx = 'import six'\n# import " +
				"mock\n"}, ""},
		{"what each image has", map[string]string{"test_a.py": "import pytest\n"}, ""},
		{"a project that declares none", map[string]string{"setup.py": "setup()\n", "a.py": "import yaml\n"}, ""},
		{"an environment", map[string]string{"environment.yml": "dependencies: [numpy]\n", "a.py": "import numpy\n"}, ""},
		{"an extension of its own", map[string]string{"Levenshtein.c": "", "test_a.py": "import Levenshtein\n"}, ""},
		{"programs are no modules", map[string]string{"a.py": "import ansible\nimport mercurial\nimport nothing_that_is\n"},
			""},
		{"Windows' ends of lines", map[string]string{"a.py": "import polib\r\nimport six\r\n"}, "python3-polib python3-six"},
	} {
		s := &ecosystemtest.Sources{Texts: c.files, Toolchains: []string{"python"}}
		got, err := Ecosystem{}.Packages(s)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q, %v", c.name, got, c.want, err)
		}
	}
}

// A module that a run does not find is named with Debian's package, where that is known.
func TestMissingModules(t *testing.T) {
	output := "E   ModuleNotFoundError: No module named 'polib'\nModuleNotFoundError: No module named " +
		"'yaml.loader'\nModuleNotFoundError: No module named 'own_thing'\nModuleNotFoundError: No module named " +
		"'simplejson'\nModuleNotFoundError: No module named 'polib'\n"
	if got := strings.Join(
		(Ecosystem{}).MissingPackages(
			output, ecosystem.ReadOwnNames([]string{"lib/own_thing/__init__.py", "src/simplejson.pyx"})),
		" "); got != "python3-polib python3-yaml" {
		t.Error(got)
	}
	if got := (Ecosystem{}).ExplainOutput(output); !strings.Contains(
		got, `apt-get install -y python3-polib python3-yaml`) {
		t.Error(got)
	}
	if got := (Ecosystem{}).ExplainOutput("No module named 'own_thing'"); got != "" {
		t.Error(got)
	}
}
