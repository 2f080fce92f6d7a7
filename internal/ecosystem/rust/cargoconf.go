package rust

import (
	"context"
	"path/filepath"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/boundedparse/toml"
)

const defaultIndex = "https://index.crates.io"

// ReadSettings reads cargo's settings in CARGO_HOME: the source that replaces crates.io, the proxy, the CA
// certificate and the token. Only sparse indexes are supported.
func (Ecosystem) ReadSettings(_ context.Context, host ecosystem.Host) (up ecosystem.Upstream, err error) {
	home := host.Env("CARGO_HOME")
	if home == "" {
		home = filepath.Join(host.Home(), ".cargo")
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
		text, err := host.ReadFile(filepath.Join(home, name))
		if err != nil {
			continue
		}
		if err := toml.Decode(text, &c); err != nil {
			host.AddNote("cargo's %s cannot be read: no crates are served", name)
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
	if v := host.Env("CARGO_REGISTRIES_" + strings.ToUpper(strings.ReplaceAll(by, "-", "_")) + "_INDEX"); v != "" &&
		by != "crates-io" {
		address = v
	}
	sparse, ok := strings.CutPrefix(address, "sparse+")
	endpoint, err := ecosystem.ParseEndpoint(sparse)
	if !ok || err != nil {
		host.AddNote("cargo takes crates from %s, which is not a sparse index: no crates are served", by)
		return up, nil
	}
	endpoint.Proxy = c.HTTP.Proxy
	if v := host.Env("CARGO_HTTP_PROXY"); v != "" {
		endpoint.Proxy = v
	}
	if endpoint.Proxy != "" && !strings.Contains(endpoint.Proxy, "://") {
		endpoint.Proxy = "http://" + endpoint.Proxy
	}
	token := c.Registries[by].Token
	for _, name := range []string{"credentials.toml", "credentials"} {
		var k struct {
			Registries map[string]struct{ Token string }
		}
		if text, err := host.ReadFile(filepath.Join(home, name)); err == nil && toml.Decode(text, &k) == nil &&
			k.Registries[by].Token != "" {
			token = k.Registries[by].Token
			break
		}
	}
	if ca := c.HTTP.Cainfo; ca != "" {
		if !filepath.IsAbs(ca) {
			ca = filepath.Join(filepath.Dir(home), ca)
		}
		host.TrustCA("cargo's http.cainfo", ca)
	}
	host.TrustCA("CARGO_HTTP_CAINFO", host.Env("CARGO_HTTP_CAINFO"))
	return ecosystem.At(endpoint.WithAuth(token).ForWholeHost()), nil // cargo does the same
}

// fetchedCrates is CARGO_HOME in a container for crates that cargo fetches itself. The crates in the image
// belong to root and are only read.
const fetchedCrates = "/work/.fetched/cargo"

// ClientEnv gives cargo its own CARGO_HOME once a dependency was added. Until then it returns nil and cargo
// uses the image alone. Multiplexing is off because it needs a connection upgrade, which no gateway
// supports.
func (Ecosystem) ClientEnv(_ ecosystem.Upstream, _ string, added bool) map[string]string {
	if !added {
		return nil
	}
	return map[string]string{"CARGO_HOME": fetchedCrates, "CARGO_NET_OFFLINE": "false", "CARGO_HTTP_MULTIPLEXING": "false"}
}

// SetupCommand returns the shell command that writes cargo's settings into fetchedCrates. The command fails
// if cargo is older than 1.68, because older releases cannot use a sparse index.
func (Ecosystem) SetupCommand(address string) string {
	old := "minor=$(cargo --version 2>/dev/null | cut -d. -f2); [ \"${minor:-0}\" -ge 68 ] || " +
		"{ echo 'the cargo of this image is older than 1.68 and cannot use the mirror of crates: vendor the crate, or " +
		"escalate' >&2; exit 1; }; "
	return old + "mkdir -p " + fetchedCrates +
		" && printf '%s\\n' '[source.crates-io]' 'replace-with = \"mirror\"' '[source.mirror]' 'registry = \"sparse+" +
		address + "/\"' '[net]' 'offline = false' > " + fetchedCrates + "/config.toml"
}
