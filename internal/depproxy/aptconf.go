package depproxy

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// debianKeys begins the name of the files that Debian's own keys are in.
const debianKeys = "debian-archive-"

// maxSources bounds one file of apt's sources.
const maxSources = 1 << 20

// aptSource is one entry of a file of apt's sources, for binary packages.
type aptSource struct {
	uris, suites, components []string
	architectures            []string
	signedBy                 string
	trusted                  bool
}

// readApt reads the Debian archives of apt's sources: those that Debian's keys are
// for. Archives of others are left out, since an image of Debian has no keys
// to check them with.
func (r *settingsReader) readApt(ctx context.Context) {
	var all []aptSource
	dir := filepath.Join(r.Root, "etc/apt")
	lists, _ := filepath.Glob(filepath.Join(dir, "sources.list.d", "*.list"))
	for _, f := range append([]string{filepath.Join(dir, "sources.list")}, lists...) {
		all = append(all, parseSourcesList(r.readSmallFile(f))...)
	}
	stanzas, _ := filepath.Glob(filepath.Join(dir, "sources.list.d", "*.sources"))
	for _, f := range stanzas {
		all = append(all, parseDeb822(r.readSmallFile(f))...)
	}
	foreign := false
	for _, s := range all {
		if len(s.architectures) > 0 && !slices.Contains(s.architectures, runtime.GOARCH) {
			continue
		}
		if s.trusted || s.signedBy != "" && !strings.HasPrefix(filepath.Base(s.signedBy), debianKeys) {
			foreign = true
			continue
		}
		for _, uri := range s.uris {
			r.addArchive(uri, s)
		}
	}
	if foreign {
		r.addNote("apt sources that are not checked with Debian's own keys are not served")
	}
	if len(r.upstreams.Debian) > 0 {
		r.readAptProxies(ctx)
	}
}

// addArchive adds the suites of one address.
func (r *settingsReader) addArchive(uri string, s aptSource) {
	e, err := parseEndpoint(uri)
	if err != nil {
		r.addNote("an apt source is %v and is left out", err)
		return
	}
	if strings.HasPrefix(e.URL, "https:") && e.auth == "" {
		e = r.withAptAuth(e)
	}
	i := slices.IndexFunc(r.upstreams.Debian, func(a Archive) bool { return a.URL == e.URL })
	if i < 0 {
		r.upstreams.Debian = append(r.upstreams.Debian, Archive{Endpoint: e, Suites: map[string][]string{}})
		i = len(r.upstreams.Debian) - 1
	}
	for _, suite := range s.suites {
		if !suiteRE.MatchString(suite) { // also a flat archive's path
			r.addNote("the suite %.60q of an apt source is left out", suite)
			continue
		}
		for _, c := range s.components {
			if have := r.upstreams.Debian[i].Suites[suite]; componentRE.MatchString(c) && !slices.Contains(have, c) {
				r.upstreams.Debian[i].Suites[suite] = append(have, c)
			}
		}
	}
	if len(r.upstreams.Debian[i].Suites) == 0 {
		r.upstreams.Debian = slices.Delete(r.upstreams.Debian, i, i+1)
	}
}

// readSmallFile reads a file of settings; one that cannot be read is empty.
func (r *settingsReader) readSmallFile(file string) []byte {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSources {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		r.addNote("%s cannot be read", filepath.Base(file))
	}
	return text
}

// withAptAuth adds the password that apt's auth.conf has for a host.
func (r *settingsReader) withAptAuth(e Endpoint) Endpoint {
	u, err := url.Parse(e.URL)
	if err != nil {
		return e
	}
	files, _ := filepath.Glob(filepath.Join(r.Root, "etc/apt/auth.conf.d", "*.conf"))
	for _, f := range append([]string{filepath.Join(r.Root, "etc/apt/auth.conf")}, files...) {
		text, err := os.ReadFile(f) // root's alone, as a rule
		if err != nil || len(text) > maxSources {
			continue
		}
		if login, password, ok := findNetrcLogin(text, u.Hostname()); ok {
			return e.WithAuth(basicAuth(login, password))
		}
	}
	return e
}

// readAptProxies takes apt's proxies, for http and for https as a whole. What
// apt-config does not say is the environment's to say.
func (r *settingsReader) readAptProxies(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for _, scheme := range []string{"http", "https"} {
		cmd := exec.CommandContext(ctx, r.AptConfig, "shell", "P", "Acquire::"+scheme+"::Proxy")
		cmd.Dir, cmd.WaitDelay = r.Root, 5*time.Second
		out, err := cmd.Output()
		value, ok := strings.CutPrefix(strings.TrimSpace(string(out)), "P=")
		if value = strings.Trim(value, "'"); err != nil || !ok || value == "" {
			continue
		}
		if u, err := url.Parse(value); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			r.addNote("apt's proxy for %s is not an http or https address and is not used", scheme)
			continue
		}
		for i := range r.upstreams.Debian {
			if strings.HasPrefix(r.upstreams.Debian[i].URL, scheme+":") {
				r.upstreams.Debian[i].Proxy = value
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
