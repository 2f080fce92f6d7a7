package python

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"company/internal/ecosystem"
)

const defaultIndex = "https://pypi.org/simple"

// ReadSettings reads pip's settings: the environment, the user's files, the global file. It ignores further
// indexes. With two of them, a stranger could register a private package's name in the public one, and pip
// would fetch it from there.
func (Ecosystem) ReadSettings(_ context.Context, host ecosystem.Host) (up ecosystem.Upstream, err error) {
	host.TrustCA("REQUESTS_CA_BUNDLE", host.Env("REQUESTS_CA_BUNDLE"))
	set := map[string]string{}
	read := func(file string) {
		text, _ := host.ReadFile(file) // a missing file is empty
		for k, v := range parseINI(text) {
			section, name, _ := strings.Cut(k, ".")
			if _, had := set[name]; !had && (section == "global" || section == "install") {
				set[name] = v
			}
		}
	}
	if file := host.Env("PIP_CONFIG_FILE"); file != "/dev/null" {
		if file != "" {
			read(file)
		}
		config := host.Env("XDG_CONFIG_HOME")
		if config == "" {
			config = filepath.Join(host.Home(), ".config")
		}
		read(filepath.Join(config, "pip", "pip.conf"))
		read(filepath.Join(host.Home(), ".pip", "pip.conf"))
		read(filepath.Join(host.Root(), "etc", "pip.conf"))
	}
	for _, name := range []string{"index-url", "extra-index-url", "proxy", "cert", "no-index"} {
		if v := host.Env("PIP_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))); v != "" {
			set[name] = v
		}
	}
	if v := set["no-index"]; v == "1" || strings.EqualFold(v, "true") || strings.EqualFold(v, "yes") {
		host.AddNote("pip is set to use no index: no Python packages are served")
		return up, nil
	}
	address := set["index-url"]
	if address == "" {
		address = defaultIndex
	}
	endpoint, err := ecosystem.ParseEndpoint(address)
	if err != nil {
		host.AddNote("pip's index-url is %v: no Python packages are served", err)
		return up, nil
	}
	endpoint.Proxy = set["proxy"]
	if endpoint.Proxy != "" && !strings.Contains(endpoint.Proxy, "://") {
		endpoint.Proxy = "http://" + endpoint.Proxy
	}
	if set["extra-index-url"] != "" {
		host.AddNote("pip's extra-index-url is not served: one index that holds all is safe against names that somebody " +
			"else " +
			"registers")
	}
	host.TrustCA("pip's cert", set["cert"])
	return ecosystem.At(ecosystem.WithNetrc(host, endpoint).ForWholeHost()), nil // pip does the same
}

// ClientEnv returns variables that make pip and uv use the index at an address.
func (Ecosystem) ClientEnv(_ ecosystem.Upstream, address string, _ bool) map[string]string {
	patience := strconv.Itoa(ecosystem.ClientPatience)
	return map[string]string{
		"PIP_DEFAULT_TIMEOUT": patience, "UV_HTTP_TIMEOUT": patience,
		"PIP_INDEX_URL": address + "/simple/", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_BREAK_SYSTEM_PACKAGES": "1",
		"UV_DEFAULT_INDEX": address + "/simple/", "UV_INDEX_URL": address + "/simple/",
	}
}

// parseINI parses sections into a map with keys of the form section.key.
func parseINI(text []byte) map[string]string {
	out := map[string]string{}
	section, last := "", ""
	for line := range strings.Lines(string(text)) {
		t := strings.TrimSpace(line)
		switch {
		case t == "" || t[0] == '#' || t[0] == ';':
		case t[0] == '[':
			section, last = strings.Trim(t, "[]"), ""
		case (line[0] == ' ' || line[0] == '\t') && last != "":
			out[last] = strings.TrimSpace(out[last] + " " + t)
		default:
			k, v, ok := strings.Cut(t, "=")
			if !ok {
				k, v, _ = strings.Cut(t, ":")
			}
			last = section + "." + strings.ReplaceAll(strings.ToLower(strings.TrimSpace(k)), "_", "-")
			out[last] = strings.TrimSpace(v)
		}
	}
	return out
}
