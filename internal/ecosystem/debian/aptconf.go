package debian

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"company/internal/ecosystem"
)

// debianKeys begins the name of the files that Debian's own keys are in.
const debianKeys = "debian-archive-"

// aptSource is one entry of a file of apt's sources, for binary packages.
type aptSource struct {
	uris, suites, components []string
	architectures            []string
	signedBy                 string
	trusted                  bool
}

// ReadSettings reads the Debian archives of apt's sources: those that Debian's
// keys are for. Archives of others are left out, since an image of Debian has no
// keys to check them with.
func (Archives) ReadSettings(ctx context.Context, h ecosystem.Host) (ecosystem.Upstream, error) {
	var all []aptSource
	dir := filepath.Join(h.Root(), "etc/apt")
	for _, f := range append([]string{filepath.Join(dir, "sources.list")}, h.Glob(filepath.Join(dir, "sources.list.d", "*.list"))...) {
		all = append(all, parseSourcesList(readSources(h, f))...)
	}
	for _, f := range h.Glob(filepath.Join(dir, "sources.list.d", "*.sources")) {
		all = append(all, parseDeb822(readSources(h, f))...)
	}
	foreign := false
	var archives []ecosystem.Endpoint
	for _, s := range all {
		if len(s.architectures) > 0 && !slices.Contains(s.architectures, runtime.GOARCH) {
			continue
		}
		if s.trusted || s.signedBy != "" && !strings.HasPrefix(filepath.Base(s.signedBy), debianKeys) {
			foreign = true
			continue
		}
		for _, uri := range s.uris {
			archives = addArchive(h, archives, uri, s)
		}
	}
	if foreign {
		h.AddNote("apt sources that are not checked with Debian's own keys are not served")
	}
	if len(archives) > 0 {
		setProxies(ctx, h, archives)
	}
	return ecosystem.At(archives...), nil
}

// readSources reads a file of sources; one that cannot be read is empty.
func readSources(h ecosystem.Host, file string) []byte {
	text, err := h.ReadFile(file)
	if errors.Is(err, fs.ErrPermission) {
		h.AddNote("%s cannot be read", filepath.Base(file))
	}
	return text
}

// addArchive adds the suites of one address.
func addArchive(h ecosystem.Host, archives []ecosystem.Endpoint, uri string, s aptSource) []ecosystem.Endpoint {
	e, err := ecosystem.ParseEndpoint(uri)
	if err != nil {
		h.AddNote("an apt source is %v and is left out", err)
		return archives
	}
	if header, _ := e.Auth(); strings.HasPrefix(e.URL, "https:") && header == "" {
		e = withAptAuth(h, e)
	}
	i := slices.IndexFunc(archives, func(a ecosystem.Endpoint) bool { return a.URL == e.URL })
	if i < 0 {
		e.Parts = map[string][]string{}
		archives, i = append(archives, e), len(archives)
	}
	have := archives[i].Parts
	for _, suite := range s.suites {
		if !suiteRE.MatchString(suite) { // also a flat archive's path
			h.AddNote("the suite %.60q of an apt source is left out", suite)
			continue
		}
		for _, c := range s.components {
			if componentRE.MatchString(c) && !slices.Contains(have[suite], c) {
				have[suite] = append(have[suite], c)
			}
		}
	}
	if len(have) == 0 {
		return slices.Delete(archives, i, i+1)
	}
	return archives
}

// withAptAuth adds the password that apt's auth.conf has for a host.
func withAptAuth(h ecosystem.Host, e ecosystem.Endpoint) ecosystem.Endpoint {
	u, err := url.Parse(e.URL)
	if err != nil {
		return e
	}
	dir := filepath.Join(h.Root(), "etc/apt")
	for _, f := range append([]string{filepath.Join(dir, "auth.conf")}, h.Glob(filepath.Join(dir, "auth.conf.d", "*.conf"))...) {
		text, _ := h.ReadFile(f) // root's alone, as a rule
		if login, password, ok := ecosystem.FindNetrcLogin(text, u.Hostname()); ok {
			return e.WithAuth(ecosystem.BasicAuth(login, password))
		}
	}
	return e
}

// setProxies takes apt's proxies, for http and for https as a whole. What
// apt-config does not say is the environment's to say.
func setProxies(ctx context.Context, h ecosystem.Host, archives []ecosystem.Endpoint) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for _, scheme := range []string{"http", "https"} {
		out, err := h.Run(ctx, nil, "apt-config", "shell", "P", "Acquire::"+scheme+"::Proxy")
		value, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "P=")
		if value = strings.Trim(value, "'"); err != nil || !ok || value == "" {
			continue
		}
		if u, err := url.Parse(value); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			h.AddNote("apt's proxy for %s is not an http or https address and is not used", scheme)
			continue
		}
		for i := range archives {
			if strings.HasPrefix(archives[i].URL, scheme+":") {
				archives[i].Proxy = value
			}
		}
	}
}

// parseSourcesList reads the one-line form: deb [option=value …] address suite component….
func parseSourcesList(text []byte) (out []aptSource) {
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "deb")
		if !ok || rest == "" || rest[0] != ' ' && rest[0] != '\t' {
			continue
		}
		var s aptSource
		rest = strings.TrimSpace(rest)
		if options, after, ok := strings.Cut(rest, "]"); ok && strings.HasPrefix(rest, "[") {
			for o := range strings.FieldsSeq(options[1:]) {
				name, value, _ := strings.Cut(o, "=")
				s.set(name, strings.Split(value, ","))
			}
			rest = after
		}
		f := strings.Fields(rest)
		if len(f) < 3 {
			continue
		}
		s.uris, s.suites, s.components = f[:1], f[1:2], f[2:]
		out = append(out, s)
	}
	return out
}

// parseDeb822 reads the form of fields (deb822).
func parseDeb822(text []byte) (out []aptSource) {
	for stanza := range strings.SplitSeq(strings.ReplaceAll(string(text), "\r", ""), "\n\n") {
		fields := map[string][]string{}
		name := ""
		for line := range strings.Lines(stanza) {
			switch {
			case strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t"):
				fields[name] = append(fields[name], strings.Fields(line)...)
			default:
				n, value, _ := strings.Cut(line, ":")
				name = strings.ToLower(strings.TrimSpace(n))
				fields[name] = strings.Fields(value)
			}
		}
		if !slices.Contains(fields["types"], "deb") || isOff(fields["enabled"]) {
			continue
		}
		s := aptSource{uris: fields["uris"], suites: fields["suites"], components: fields["components"]}
		for name, value := range fields {
			s.set(name, value)
		}
		out = append(out, s)
	}
	return out
}

// set takes an option that both forms have.
func (s *aptSource) set(name string, value []string) {
	switch strings.ToLower(name) {
	case "arch", "architectures":
		s.architectures = value
	case "signed-by":
		s.signedBy = strings.Join(value, " ")
	case "trusted":
		s.trusted = len(value) > 0 && !isOff(value)
	}
}

func isOff(value []string) bool {
	return len(value) > 0 && slices.Contains([]string{"no", "false", "without", "off", "disable", "0"}, strings.ToLower(value[0]))
}
