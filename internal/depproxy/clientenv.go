package depproxy

import (
	"maps"
)

// Where the clients inside a container keep what they fetch themselves. What
// an image holds is root's and is read as it is.
const (
	fetchedGo    = "/work/.fetched/gomod"
	fetchedCargo = "/work/.fetched/cargo"
)

// ImageModCache is the module cache of an image.
const ImageModCache = "/opt/gomod"

// ClientEnv makes the clients inside ask the mirrors at base, such as
// http://127.0.0.1:8377. The ecosystems in added are those to which something
// was added: the go command and cargo then keep a cache of their own, which
// costs a first build, and read the image's beside it; until then they work
// from the image alone.
func (s *Store) ClientEnv(base string, added map[string]bool) map[string]string {
	env := map[string]string{}
	if s.upstreams.Serves(NPM) {
		maps.Copy(env, map[string]string{
			"npm_config_registry": base + "/npm/", "npm_config_replace_registry_host": "always",
			"npm_config_audit": "false", "npm_config_fund": "false", "npm_config_update_notifier": "false",
			"YARN_REGISTRY": base + "/npm/", "YARN_NPM_REGISTRY_SERVER": base + "/npm", "YARN_UNSAFE_HTTP_WHITELIST": "127.0.0.1",
		})
		for scope := range s.upstreams.NPMScope {
			env["npm_config_"+scope+":registry"] = base + "/npm/"
		}
	}
	if s.upstreams.Serves(PyPI) {
		maps.Copy(env, map[string]string{
			"PIP_INDEX_URL": base + "/pypi/simple/", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_BREAK_SYSTEM_PACKAGES": "1",
			"UV_DEFAULT_INDEX": base + "/pypi/simple/", "UV_INDEX_URL": base + "/pypi/simple/",
		})
	}
	if s.upstreams.Serves(Go) && added[Go] {
		sum := s.upstreams.GoSumDB
		if sum == "" {
			sum = "off"
		}
		maps.Copy(env, map[string]string{
			// Modules of the image are unpacked out of its own download cache.
			"GOPROXY": "file://" + ImageModCache + "/cache/download," + base + "/go", "GOMODCACHE": fetchedGo,
			"GOSUMDB": sum, "GONOSUMDB": s.upstreams.GoNoSum, "GONOPROXY": "none", "GOVCS": "*:off",
		})
	}
	if s.upstreams.Serves(Crates) && added[Crates] {
		// Multiplexing asks for an upgrade of the connection, which no gateway
		// serves.
		env["CARGO_HOME"], env["CARGO_NET_OFFLINE"], env["CARGO_HTTP_MULTIPLEXING"] = fetchedCargo, "false", "false"
	}
	return env
}

// SetupCommand is a command of the shell that has to run inside before the clients
// of an ecosystem can fetch, or "".
func (s *Store) SetupCommand(base, ecosystem string) string {
	if ecosystem != Crates {
		return ""
	}
	old := "minor=$(cargo --version 2>/dev/null | cut -d. -f2); [ \"${minor:-0}\" -ge 68 ] || " +
		"{ echo 'the cargo of this image is older than 1.68 and cannot use the mirror of crates: vendor the crate, or escalate' >&2; exit 1; }; "
	return old + "mkdir -p " + fetchedCargo + " && printf '%s\\n' '[source.crates-io]' 'replace-with = \"mirror\"' '[source.mirror]' 'registry = \"sparse+" +
		base + "/crates/\"' '[net]' 'offline = false' > " + fetchedCargo + "/config.toml"
}
