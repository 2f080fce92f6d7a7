package depproxy

import (
	"os"
	"path/filepath"
	"strings"
)

// readPip reads pip's settings: the environment, the user's files, the global
// one. Further indexes are not served: with two, a private name that a stranger
// registers on the public one would be fetched there.
func (r *settingsReader) readPip() {
	set := map[string]string{}
	read := func(file string) {
		for k, v := range parseINI(file) {
			section, name, _ := strings.Cut(k, ".")
			if _, had := set[name]; !had && (section == "global" || section == "install") {
				set[name] = v
			}
		}
	}
	if file := r.Env("PIP_CONFIG_FILE"); file != os.DevNull {
		if file != "" {
			read(file)
		}
		config := r.Env("XDG_CONFIG_HOME")
		if config == "" {
			config = filepath.Join(r.Home, ".config")
		}
		read(filepath.Join(config, "pip", "pip.conf"))
		read(filepath.Join(r.Home, ".pip", "pip.conf"))
		read(filepath.Join(r.Root, "etc", "pip.conf"))
	}
	for _, name := range []string{"index-url", "extra-index-url", "proxy", "cert", "no-index"} {
		if v := r.Env("PIP_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))); v != "" {
			set[name] = v
		}
	}
	if v := set["no-index"]; v == "1" || strings.EqualFold(v, "true") || strings.EqualFold(v, "yes") {
		r.addNote("pip is set to use no index: no Python packages are served")
		return
	}
	address := set["index-url"]
	if address == "" {
		address = pypiDefault
	}
	e, err := parseEndpoint(address)
	if err != nil {
		r.addNote("pip's index-url is %v: no Python packages are served", err)
		return
	}
	e.Proxy = set["proxy"]
	if e.Proxy != "" && !strings.Contains(e.Proxy, "://") {
		e.Proxy = "http://" + e.Proxy
	}
	r.upstreams.PyPI = r.withNetrc(e).ForWholeHost() // as pip does it
	if set["extra-index-url"] != "" {
		r.addNote("pip's extra-index-url is not served: one index that holds all is safe against names that somebody else registers")
	}
	if set["cert"] != "" {
		r.addCAFile("pip's cert", set["cert"])
	}
}

// parseINI reads a file of sections, as section.key.
func parseINI(file string) map[string]string {
	out := map[string]string{}
	text, err := os.ReadFile(file)
	if err != nil || len(text) > 1<<20 {
		return out
	}
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
