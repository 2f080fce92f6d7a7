package depproxy

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
)

// readCargo reads the settings in CARGO_HOME: what replaces crates.io, a proxy, a
// certificate, a token. Only sparse indexes are served.
func (r *settingsReader) readCargo() {
	home := r.Env("CARGO_HOME")
	if home == "" {
		home = filepath.Join(r.Home, ".cargo")
	}
	var c struct {
		Source map[string]struct {
			Registry    string
			ReplaceWith string `toml:"replace-with"`
		}
		Registries map[string]struct{ Index, Token string }
		HTTP       struct{ Proxy, Cainfo string }
		Net        struct{ Offline bool }
	}
	for _, name := range []string{"config.toml", "config"} {
		text, err := os.ReadFile(filepath.Join(home, name))
		if err != nil || len(text) > 1<<20 {
			continue
		}
		if err := toml.Unmarshal(text, &c); err != nil {
			r.addNote("cargo's %s cannot be read: no crates are served", name)
			return
		}
		break
	}
	address, by := "sparse+"+cratesDefault+"/", "crates-io"
	for range 8 {
		s, ok := c.Source[by]
		if ok && s.ReplaceWith != "" {
			by = s.ReplaceWith
			continue
		}
		switch {
		case ok && s.Registry != "":
			address = s.Registry
		case c.Registries[by].Index != "":
			address = c.Registries[by].Index
		case by != "crates-io":
			address = ""
		}
		break
	}
	if v := r.firstEnv("CARGO_REGISTRIES_" + strings.ToUpper(strings.ReplaceAll(by, "-", "_")) + "_INDEX"); v != "" && by != "crates-io" {
		address = v
	}
	sparse, ok := strings.CutPrefix(address, "sparse+")
	e, err := parseEndpoint(sparse)
	if !ok || err != nil {
		r.addNote("cargo takes crates from %s, which is no sparse index: no crates are served", by)
		return
	}
	e.Proxy = c.HTTP.Proxy
	if v := r.firstEnv("CARGO_HTTP_PROXY"); v != "" {
		e.Proxy = v
	}
	if e.Proxy != "" && !strings.Contains(e.Proxy, "://") {
		e.Proxy = "http://" + e.Proxy
	}
	e.auth = c.Registries[by].Token
	for _, name := range []string{"credentials.toml", "credentials"} {
		var k struct {
			Registries map[string]struct{ Token string }
		}
		if text, err := os.ReadFile(filepath.Join(home, name)); err == nil && toml.Unmarshal(text, &k) == nil && k.Registries[by].Token != "" {
			e.auth = k.Registries[by].Token
			break
		}
	}
	r.upstreams.Crates = e.ForWholeHost() // as cargo does it
	if ca := c.HTTP.Cainfo; ca != "" {
		if !filepath.IsAbs(ca) {
			ca = filepath.Join(filepath.Dir(home), ca)
		}
		r.addCAFile("cargo's http.cainfo", ca)
	}
	r.addCertificates("CARGO_HTTP_CAINFO")
}
