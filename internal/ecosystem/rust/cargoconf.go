package rust

import (
	"context"
	"path/filepath"
	"strings"

	"company/internal/boundedparse/toml"
	"company/internal/ecosystem"
)

const defaultIndex = "https://index.crates.io"

// ReadSettings reads the settings in CARGO_HOME: what replaces crates.io, a
// proxy, a certificate, a token. Only sparse indexes are served.
func (Ecosystem) ReadSettings(_ context.Context, h ecosystem.Host) (up ecosystem.Upstream, err error) {
	home := h.Env("CARGO_HOME")
	if home == "" {
		home = filepath.Join(h.Home(), ".cargo")
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
		text, err := h.ReadFile(filepath.Join(home, name))
		if err != nil {
			continue
		}
		if err := toml.Decode(text, &c); err != nil {
			h.AddNote("cargo's %s cannot be read: no crates are served", name)
			return up, nil
		}
		break
	}
	address, by := "sparse+"+defaultIndex+"/", "crates-io"
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
	if v := h.Env("CARGO_REGISTRIES_" + strings.ToUpper(strings.ReplaceAll(by, "-", "_")) + "_INDEX"); v != "" && by != "crates-io" {
		address = v
	}
	sparse, ok := strings.CutPrefix(address, "sparse+")
	e, err := ecosystem.ParseEndpoint(sparse)
	if !ok || err != nil {
		h.AddNote("cargo takes crates from %s, which is no sparse index: no crates are served", by)
		return up, nil
	}
	e.Proxy = c.HTTP.Proxy
	if v := h.Env("CARGO_HTTP_PROXY"); v != "" {
		e.Proxy = v
	}
	if e.Proxy != "" && !strings.Contains(e.Proxy, "://") {
		e.Proxy = "http://" + e.Proxy
	}
	token := c.Registries[by].Token
	for _, name := range []string{"credentials.toml", "credentials"} {
		var k struct {
			Registries map[string]struct{ Token string }
		}
		if text, err := h.ReadFile(filepath.Join(home, name)); err == nil && toml.Decode(text, &k) == nil && k.Registries[by].Token != "" {
			token = k.Registries[by].Token
			break
		}
	}
	if ca := c.HTTP.Cainfo; ca != "" {
		if !filepath.IsAbs(ca) {
			ca = filepath.Join(filepath.Dir(home), ca)
		}
		h.TrustCA("cargo's http.cainfo", ca)
	}
	h.TrustCA("CARGO_HTTP_CAINFO", h.Env("CARGO_HTTP_CAINFO"))
	return ecosystem.At(e.WithAuth(token).ForWholeHost()), nil // as cargo does it
}

// fetchedCrates is where cargo in a container keeps what it fetches itself. What
// an image holds is root's and is read as it is.
const fetchedCrates = "/work/.fetched/cargo"

// ClientEnv gives cargo a home of its own once something was added, and reads the
// image's beside it; until then it works from the image alone. Multiplexing asks
// for an upgrade of the connection, which no gateway serves.
func (Ecosystem) ClientEnv(_ ecosystem.Upstream, _ string, added bool) map[string]string {
	if !added {
		return nil
	}
	return map[string]string{"CARGO_HOME": fetchedCrates, "CARGO_NET_OFFLINE": "false", "CARGO_HTTP_MULTIPLEXING": "false"}
}

// SetupCommand writes the settings of that home, and says so where cargo is too
// old for a sparse index.
func (Ecosystem) SetupCommand(address string) string {
	old := "minor=$(cargo --version 2>/dev/null | cut -d. -f2); [ \"${minor:-0}\" -ge 68 ] || " +
		"{ echo 'the cargo of this image is older than 1.68 and cannot use the mirror of crates: vendor the crate, or escalate' >&2; exit 1; }; "
	return old + "mkdir -p " + fetchedCrates + " && printf '%s\\n' '[source.crates-io]' 'replace-with = \"mirror\"' '[source.mirror]' 'registry = \"sparse+" +
		address + "/\"' '[net]' 'offline = false' > " + fetchedCrates + "/config.toml"
}
