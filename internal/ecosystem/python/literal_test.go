package python

import (
	"fmt"
	"strings"
	"testing"
)

// What a setup.py writes down is read; what it computes is not, and nothing runs.
func TestLiterals(t *testing.T) {
	const text = `
from setuptools import setup
import os
# install_requires=["commented"]
base = ["a>=1",
        'b',  # why
]
tests = ['pytest' , "mock; python_version < '3'"] + ["c" "d"]
setup(name="own", version=os.environ["X"], install_requires=base + ["e[f]"], tests_require=tests,
      extras_require={"test": tests, 'docs': ["sphinx"], "dev": ("g", "h"), "all": compute(), key: ["i"]},
      setup_requires=read("x.txt"), packages=["own"], description=f"{base}", long="""[
"no"]""")
`
	s := newSource(text)
	for got, want := range map[string]string{
		strings.Join(s.readArgument("install_requires"), "|"): "a>=1|b|e[f]",
		strings.Join(s.readArgument("tests_require"), "|"):    "pytest|mock; python_version < '3'|cd",
		strings.Join(s.readArgument("setup_requires"), "|"):   "",
		strings.Join(s.readArgument("nothing"), "|"):          "",
		fmt.Sprint(s.readTable("extras_require")["test"]):     "[pytest mock; python_version < '3' cd]",
		fmt.Sprint(s.readTable("extras_require")["dev"]):      "[g h]",
		fmt.Sprint(s.readTable("extras_require")["docs"]):     "[sphinx]",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, odd := range []string{"a = a", "a = b\nb = a", "a = " + strings.Repeat("[", 100_000),
		"a = " + strings.Repeat("{'x':", 100_000), "a = \"", "a = '''", "a=[" + strings.Repeat("a,", 100_000),
		"a = \x00\xff"} {
		newSource(odd).readArgument("a")
		newSource(odd).readTable("a")
	}
}

func FuzzLiterals(f *testing.F) {
	f.Add("a = ['b', \"c\" + d] # e")
	f.Fuzz(func(_ *testing.T, text string) {
		newSource(text).readArgument("a")
		newSource(text).readTable("a")
		readINI(text)
	})
}
