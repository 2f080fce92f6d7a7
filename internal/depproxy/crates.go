package depproxy

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// serveCrates serves the sparse index and the crates. A refusal is "forbidden" with
// a text, which cargo shows.
func (q *request) serveCrates(rest string) {
	if rest == "config.json" {
		text, _ := json.Marshal(map[string]string{"dl": q.base + "/crates/dl"})
		q.writeBody(text, "application/json")
		return
	}
	part := strings.Split(rest, "/")
	if len(part) == 4 && part[0] == "dl" && part[3] == "download" {
		q.serveCrate(company.Dependency{Ecosystem: Crates, Name: part[1], Version: part[2]})
		return
	}
	name := part[len(part)-1]
	d := company.Dependency{Ecosystem: Crates, Name: name}
	if CheckName(d) != nil || rest != crateIndexPath(name) {
		q.writeText(http.StatusNotFound, "there is no such path")
		return
	}
	if why := q.fetchRefusal(d); why != "" {
		q.writeText(http.StatusForbidden, why)
		return
	}
	text, all, err := q.store.readCrateIndex(q.r.Context(), name)
	if err != nil {
		q.writeFailure(err)
		return
	}
	for _, c := range all {
		if d.Version = c.Version; q.Policy.isAdded(d) {
			q.Policy.allowTransitive(c.listDependencies())
		}
	}
	q.writeBody(text, "text/plain; charset=utf-8")
}

// serveCrate serves one crate.
func (q *request) serveCrate(d company.Dependency) {
	if CheckName(d) != nil {
		q.writeText(http.StatusNotFound, "there is no such path")
		return
	}
	if !q.Policy.Allows(d) {
		q.writeText(http.StatusForbidden, q.reportRefusal(d))
		return
	}
	ctx := q.r.Context()
	_, all, err := q.store.readCrateIndex(ctx, d.Name)
	if err != nil {
		q.writeFailure(err)
		return
	}
	for _, c := range all {
		if c.Version != d.Version {
			continue
		}
		sum, err := hex.DecodeString(c.Checksum)
		if err != nil || len(sum) != 32 {
			q.writeText(http.StatusBadGateway, "the registry names no digest of "+d.String())
			return
		}
		address, err := q.store.crateURL(ctx, c)
		if err != nil {
			q.writeFailure(err)
			return
		}
		q.servePackageFile(d, fetchRequest{url: address, digest: digest{"sha256", sum}}, q.writeFailure)
		return
	}
	q.writeText(http.StatusNotFound, "the registry does not list "+d.String())
}

// crateIndexPath is where the index keeps a crate.
func crateIndexPath(name string) string {
	n := strings.ToLower(name)
	switch len(n) {
	case 0:
		return ""
	case 1, 2:
		return fmt.Sprintf("%d/%s", len(n), n)
	case 3:
		return "3/" + n[:1] + "/" + n
	}
	return n[:2] + "/" + n[2:4] + "/" + n
}

// crateVersion is one line of the index.
type crateVersion struct {
	Name     string `json:"name"`
	Version  string `json:"vers"`
	Checksum string `json:"cksum"`
	Yanked   bool   `json:"yanked"`
	Deps     []struct {
		Name     string  `json:"name"`
		Package  string  `json:"package"` // the real name, where it was renamed
		Kind     string  `json:"kind"`
		Registry *string `json:"registry"` // of another registry
	} `json:"deps"`
}

// listDependencies are the crates that a version asks for; those that only its own tests
// use are not among them.
func (c crateVersion) listDependencies() (out []company.Dependency) {
	for _, d := range c.Deps {
		name := d.Package
		if name == "" {
			name = d.Name
		}
		if d.Kind != "dev" && d.Registry == nil {
			out = append(out, company.Dependency{Ecosystem: Crates, Name: name})
		}
	}
	return out
}

// readCrateIndex is the index's file of a crate, as it is and read. Lines that are
// not understood are for newer clients.
func (s *Store) readCrateIndex(ctx context.Context, name string) (text []byte, all []crateVersion, err error) {
	text, _, err = s.read(ctx, fetchRequest{url: s.upstreams.Crates.URL + "/" + crateIndexPath(name)})
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(text)) {
		var c crateVersion
		if json.Unmarshal([]byte(line), &c) == nil && c.Version != "" && ecosystem.CheckSemver(c.Version) == nil && canonicalName(Crates, c.Name) == canonicalName(Crates, name) {
			all = append(all, c)
		}
	}
	return text, all, nil
}

// crateURL is where the registry has the file of a crate.
func (s *Store) crateURL(ctx context.Context, c crateVersion) (string, error) {
	text, _, err := s.read(ctx, fetchRequest{url: s.upstreams.Crates.URL + "/config.json", limit: 1 << 20})
	if err != nil {
		return "", err
	}
	var config struct {
		DL string `json:"dl"`
	}
	if err := json.Unmarshal(text, &config); err != nil || config.DL == "" {
		return "", fmt.Errorf("the index of crates has no config.json that can be read")
	}
	if !strings.Contains(config.DL, "{") {
		return strings.TrimRight(config.DL, "/") + "/" + c.Name + "/" + c.Version + "/download", nil
	}
	dir := func(n string) string { p := crateIndexPath(n); return p[:strings.LastIndexByte(p, '/')] }
	prefix := dir(c.Name)
	if len(c.Name) > 3 { // the one form that keeps capitals
		prefix = c.Name[:2] + "/" + c.Name[2:4]
	}
	return strings.NewReplacer("{crate}", c.Name, "{version}", c.Version, "{prefix}", prefix, "{lowerprefix}", dir(c.Name),
		"{sha256-checksum}", c.Checksum).Replace(config.DL), nil
}
