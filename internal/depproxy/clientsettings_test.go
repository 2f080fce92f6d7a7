package depproxy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The settings of all clients, read the way the clients read them.
func TestLoadClientSettings(t *testing.T) {
	root := t.TempDir()
	home := filepath.Join(root, "home")
	fakeGo := filepath.Join(root, "go")
	write(t, root, map[string]string{
		"go":                        "#!/bin/sh\necho '{\"GOPROXY\":\"https://u:p@proxy.corp.example/go,https://second.example|direct,off,https://never.example\",\"GOSUMDB\":\"off\",\"GOPRIVATE\":\"corp.example\"}'\n",
		"home/.netrc":               "# c\nmacdef x\n machine second.example login no password no\n\nmachine other.example login a password b\nmachine second.example\n login me password word\ndefault login d password e\n",
		"home/.npmrc":               "; c\nregistry = https://npm.corp.example/repo/\n@corp:registry=https://npm.corp.example/private\n//npm.corp.example/repo/:_authToken=${TOKEN}\n//npm.corp.example/private/:username=u\n//npm.corp.example/private/:_password=cGFzcw==\ncafile=" + root + "/ca.pem\n",
		"home/.config/pip/pip.conf": "[global]\nindex-url = https://pip.corp.example/simple\nextra-index-url =\n  https://extra.example\nproxy = proxy.example:3128\n[list]\nindex-url = https://wrong.example\n",
		"home/.cargo/config.toml":   "[source.crates-io]\nreplace-with = \"corp\"\n[source.corp]\nregistry = \"sparse+https://crates.corp.example/index/\"\n[registries.corp]\ntoken = \"tok\"\n",
		"ca.pem":                    "",
	})
	if err := os.Chmod(fakeGo, 0o755); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"TOKEN": "sesame", "NODE_EXTRA_CA_CERTS": root + "/absent.pem"}
	up, err := Environment{Env: func(k string) string { return env[k] }, Home: home, Root: root, Go: fakeGo}.LoadUpstreams(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(up.Go) != 2 || up.Go[0].URL != "https://proxy.corp.example/go" || up.Go[0].NextOnAnyError || up.Go[0].auth != "Basic dTpw" ||
		up.Go[1].URL != "https://second.example" || !up.Go[1].NextOnAnyError || up.Go[1].auth != "Basic bWU6d29yZA==" || up.GoSumDB != "off" || up.GoNoSum != "corp.example" {
		t.Errorf("go: %v %v", up.Go, up)
	}
	if up.NPM.URL != "https://npm.corp.example/repo" || up.NPM.auth != "Bearer sesame" || up.npmEndpoint("@corp/x").URL != "https://npm.corp.example/private" || up.npmEndpoint("@corp/x").auth != "Basic dTpwYXNz" || up.npmEndpoint("@else/x").URL != up.NPM.URL {
		t.Errorf("npm: %v %v", up.NPM, up.NPMScope)
	}
	if up.PyPI.URL != "https://pip.corp.example/simple" || up.PyPI.Proxy != "http://proxy.example:3128" || up.Crates.URL != "https://crates.corp.example/index" || up.Crates.auth != "tok" {
		t.Errorf("pip, cargo: %v %v", up.PyPI, up.Crates)
	}
	notes := strings.Join(up.Notes, "\n")
	for _, want := range []string{"extra-index-url", "NODE_EXTRA_CA_CERTS"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not speak of %s:\n%s", want, notes)
		}
	}
	for _, secret := range []string{"sesame", "word", "tok"} {
		if strings.Contains(notes, secret) {
			t.Errorf("the notes say %q", secret)
		}
	}
	if len(up.CAs) != 1 || up.CAs[0] != root+"/ca.pem" {
		t.Errorf("certificates: %q", up.CAs)
	}
}

// Without any setting, and with garbage in all of them.
func TestLoadClientSettingsDefaults(t *testing.T) {
	root := t.TempDir()
	none := func(string) string { return "" }
	up, err := Environment{Env: none, Home: root, Root: root, Go: filepath.Join(root, "absent")}.LoadUpstreams(t.Context())
	if err != nil || up.Serves(Go) || up.NPM.URL != npmDefault || up.PyPI.URL != pypiDefault || up.Crates.URL != cratesDefault || len(up.Notes) == 0 {
		t.Errorf("%+v %v", up, err)
	}
	write(t, root, map[string]string{".npmrc": "registry=javascript:alert(1)\n=\n@:registry=x\n", ".pip/pip.conf": "[global\nindex-url=ftp://x\n", ".cargo/config.toml": "[[[", ".config/pip/pip.conf": "\x00"})
	up, err = Environment{Env: none, Home: root, Root: root, Go: "false"}.LoadUpstreams(t.Context())
	if err != nil || up.Serves(NPM) || up.Serves(Crates) || up.Serves(Go) || len(up.Notes) < 3 {
		t.Errorf("%+v %v", up, err)
	}
}
