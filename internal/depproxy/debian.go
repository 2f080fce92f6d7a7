package depproxy

import (
	"encoding/hex"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"company/internal/company"
)

// Debian is served below /debian/ under a policy with suites. It is no
// ecosystem of Ecosystems: no lock file names its packages, no worker could
// install them, and no task can add them.
const Debian = "debian"

// Archive is one Debian archive of the operator's apt sources.
type Archive struct {
	Endpoint
	Suites map[string][]string // suite → its components
}

// Debian's own grammars. Nothing in a path begins with a dot, so no path leads
// upwards.
var (
	suiteRE     = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	componentRE = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	archiveRE   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+~_-]{0,254}$`)
	indexRE     = regexp.MustCompile(`^(InRelease|Release|Release\.gpg|(Packages|Translation-[A-Za-z_]{2,12})(\.(xz|gz|bz2|lzma|zst))?)$`)
)

// byHash are the folders of files that are named by their digest, with the
// number of its bytes.
var byHash = map[string]int{"SHA256": 32, "SHA512": 64}

const (
	maxArchivePath = 512         // bytes
	debMagic       = "!<arch>\n" // every .deb begins with it
)

// AllowSuites lets the indices of these suites be fetched from Debian archives,
// and the packages of archives that have one of them. It is for preparation,
// which runs the president's own commands; a worker's policy never has suites.
func (p *Policy) AllowSuites(suites ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range suites {
		if suiteRE.MatchString(s) {
			p.suites = append(p.suites, s)
		}
	}
}

// allowsSuite reports whether a suite's indices may be fetched.
func (p *Policy) allowsSuite(suite string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.suites, suite)
}

// serveDebian serves <number of the archive>/dists/<suite>/… and …/pool/…. The
// number keeps the operator's hosts out of what a container sees.
func (q *request) serveDebian(rest string) {
	none := func() { q.writeText(http.StatusNotFound, "there is no such path") }
	path, err := url.PathUnescape(rest) // apt writes + as %2b
	if err != nil || len(path) > maxArchivePath || strings.Contains(strings.ToLower(rest), "%2f") {
		none()
		return
	}
	part := strings.Split(path, "/")
	for _, p := range part {
		if !archiveRE.MatchString(p) {
			none()
			return
		}
	}
	n, err := strconv.Atoi(part[0])
	if err != nil || n < 0 || n >= len(q.store.upstreams.Debian) || strconv.Itoa(n) != part[0] || len(part) < 4 {
		none()
		return
	}
	archive := q.store.upstreams.Debian[n]
	part = part[1:]
	w := fetchRequest{url: archive.URL + "/" + strings.ReplaceAll(strings.Join(part, "/"), "+", "%2B"), rawBytes: true}
	switch last := part[len(part)-1]; part[0] {
	case "dists":
		if _, ok := archive.Suites[part[1]]; !ok {
			none()
			return
		}
		if !q.Policy.allowsSuite(part[1]) {
			q.refuseDebian(part[1])
			return
		}
		if !q.isIndexFile(part, &w) {
			none()
			return
		}
		w.limit = maxMetadata
		o, err := q.store.get(q.r.Context(), w)
		if err != nil {
			q.writeFailure(err)
			return
		}
		q.serveEntry(o, "application/octet-stream")
	case "pool":
		if !slices.ContainsFunc(archive.suiteNames(), q.Policy.allowsSuite) {
			q.refuseDebian("pool")
			return
		}
		if strings.HasSuffix(last, ".deb") {
			w.magic = debMagic // a page of a captive portal is not kept for good
		}
		name, version, _ := strings.Cut(strings.TrimSuffix(last, ".deb"), "_")
		q.servePackageFile(company.Dependency{Ecosystem: Debian, Name: name, Version: version}, w, q.writeFailure)
	default:
		none()
	}
}

// isIndexFile reports whether a path below dists is one that apt needs, and
// fills in its size and digest.
func (q *request) isIndexFile(part []string, w *fetchRequest) bool {
	last := part[len(part)-1]
	if len(part) < 5 || part[len(part)-3] != "by-hash" {
		return indexRE.MatchString(last)
	}
	algorithm := part[len(part)-2]
	sum, err := hex.DecodeString(last)
	if err != nil || byHash[algorithm] == 0 || len(sum) != byHash[algorithm] {
		return false
	}
	w.immutable, w.digest = true, digest{strings.ToLower(algorithm), sum}
	return true
}

func (q *request) refuseDebian(name string) {
	const why = "Debian packages are for container.setup only: what the project needs of them belongs into its image"
	if q.OnRefusal != nil {
		q.OnRefusal(FetchReport{Dependency: company.Dependency{Ecosystem: Debian, Name: name}, Why: why})
	}
	q.writeText(http.StatusForbidden, why)
}

// suiteNames lists the archive's suites.
func (a Archive) suiteNames() []string {
	var out []string
	for s := range a.Suites {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// AptSources are lines of a sources.list for a place where NewPolicyHandler is reached
// at base: those of the suites that the operator's archives have. The keyring
// is the file that the signatures are checked with.
func (u Upstreams) AptSources(base, keyring string, suites ...string) []string {
	var lines []string
	for n, a := range u.Debian {
		for _, s := range suites {
			if c := a.Suites[s]; len(c) > 0 {
				lines = append(lines, "deb [signed-by="+keyring+"] "+base+"/"+Debian+"/"+strconv.Itoa(n)+" "+s+" "+strings.Join(c, " "))
			}
		}
	}
	return lines
}
