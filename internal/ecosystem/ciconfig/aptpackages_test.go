package ciconfig

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestListAptPackages(t *testing.T) {
	workflow := func(script string) map[string]string {
		return map[string]string{
			".github/workflows/ci.yml": "jobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: |\n          " +
				strings.ReplaceAll(script, "\n", "\n          ") + "\n"}
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"plain", workflow("sudo apt-get update && sudo apt-get install -y libseccomp-dev pkg-config"),
			"libseccomp-dev pkg-config"},
		{"options", workflow("apt-get -y -qq -o Dpkg::Use-Pty=0 install --no-install-recommends -t bookworm-backports " +
			"zlib1g-dev=1:1.2 libpq-dev:amd64"), "zlib1g-dev libpq-dev"},
		{"lines that go on", workflow("apt install \\\n  g++ \\\n  'libz-dev' # comment more\nmake all"), "g++ libz-dev"},
		{"no plain names", workflow("apt-get install -y $PKGS ./x.deb foo- libc6:i386 https://a/b.deb " +
			"\"linux-headers-$(uname -r)\""), ""},
		{"comment", workflow("# apt-get install zlib1g-dev\necho x"), ""},
		{"end of the command", workflow("apt-get install -y jq; make install y\napt-get install -y bc | tee log"), "jq bc"},
		{"another system", map[string]string{".github/workflows/ci.yml": "jobs:\n  a:\n    runs-on: windows-latest\n    " +
			"steps:\n      - run: apt-get install jq\n"}, ""},
		{"an action", map[string]string{".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n      - uses: " +
			"awalsh128/cache-apt-pkgs-action@v1\n        with:\n          packages: jq bc\n      - run: make\n"}, "jq bc"},
		{"GitLab", map[string]string{".gitlab-ci.yml": "before_script:\n  - apt-get install -y jq\ntest:\n  script:\n    - " +
			"make\n"}, "jq"},
		{"Travis", map[string]string{".travis.yml": "addons:\n  apt:\n    packages:\n      - libz-dev\nbefore_install:\n  " +
			"- sudo apt-get install -y jq\nscript: make\n"}, "libz-dev jq"},
	} {
		got := strings.Join(ListAptPackages(ReadDefinitions(ecosystemtest.Tree(c.files))), " ")
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Many names cost no more than their limit.
func TestManyAptPackages(t *testing.T) {
	var script strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&script, "apt-get install -y a%d b%d\n", i, i)
	}
	got := ListAptPackages([]Definition{{Jobs: []Job{{Steps: []Step{{Script: script.String()}}}}}})
	if len(got) != maxAptNames {
		t.Errorf("%d names", len(got))
	}
}
