package registry

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"company/internal/company"
)

// crates serves the sparse index and the crates. A refusal is "forbidden" with
// a text, which cargo shows.
func (q *request) crates(rest string) {
	if rest == "config.json" {
		text, _ := json.Marshal(map[string]string{"dl": q.base + "/crates/dl"})
		q.body(text, "application/json")
		return
	}
	part := strings.Split(rest, "/")
	if len(part) == 4 && part[0] == "dl" && part[3] == "download" {
		q.crate(company.Dependency{Ecosystem: Crates, Name: part[1], Version: part[2]})
		return
	}
	name := part[len(part)-1]
	d := company.Dependency{Ecosystem: Crates, Name: name}
	if Check(d) != nil || rest != cratePath(name) {
		q.text(http.StatusNotFound, "there is no such path")
		return
	}
	if why := q.mayFetch(d); why != "" {
		q.text(http.StatusForbidden, why)
		return
	}
	text, all, err := q.store.crateIndex(q.r.Context(), name)
	if err != nil {
		q.fail(err)
		return
	}
	for _, c := range all {
		if d.Version = c.Version; q.Policy.follows(d) {
			q.Policy.learn(c.needs())
		}
	}
	q.body(text, "text/plain; charset=utf-8")
}

// crate serves one crate.
func (q *request) crate(d company.Dependency) {
	if Check(d) != nil {
		q.text(http.StatusNotFound, "there is no such path")
		return
	}
	if !q.Policy.Allows(d) {
		q.text(http.StatusForbidden, q.refused(d))
		return
	}
	ctx := q.r.Context()
	_, all, err := q.store.crateIndex(ctx, d.Name)
	if err != nil {
		q.fail(err)
		return
	}
	for _, c := range all {
		if c.Version != d.Version {
			continue
		}
		sum, err := hex.DecodeString(c.Checksum)
		if err != nil || len(sum) != 32 {
			q.text(http.StatusBadGateway, "the registry names no digest of "+d.String())
			return
		}
		address, err := q.store.crateAddress(ctx, c)
		if err != nil {
			q.fail(err)
			return
		}
		q.artefact(d, want{url: address, digest: digest{"sha256", sum}}, q.fail)
		return
	}
	q.text(http.StatusNotFound, "the registry does not list "+d.String())
}

// cratePath is where the index keeps a crate.
func cratePath(name string) string {
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

// needs are the crates that a version asks for; those that only its own tests
// use are not among them.
func (c crateVersion) needs() (out []company.Dependency) {
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

// crateIndex is the index's file of a crate, as it is and read. Lines that are
// not understood are for newer clients.
func (s *Store) crateIndex(ctx context.Context, name string) (text []byte, all []crateVersion, err error) {
	text, _, err = s.read(ctx, want{url: s.up.Crates.URL + "/" + cratePath(name)})
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(text)) {
		var c crateVersion
		if json.Unmarshal([]byte(line), &c) == nil && semverRE.MatchString(c.Version) && canonical(Crates, c.Name) == canonical(Crates, name) {
			all = append(all, c)
		}
	}
	return text, all, nil
}

// crateAddress is where the registry has the file of a crate.
func (s *Store) crateAddress(ctx context.Context, c crateVersion) (string, error) {
	text, _, err := s.read(ctx, want{url: s.up.Crates.URL + "/config.json", limit: 1 << 20})
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
	dir := func(n string) string { p := cratePath(n); return p[:strings.LastIndexByte(p, '/')] }
	prefix := dir(c.Name)
	if len(c.Name) > 3 { // the one form that keeps capitals
		prefix = c.Name[:2] + "/" + c.Name[2:4]
	}
	return strings.NewReplacer("{crate}", c.Name, "{version}", c.Version, "{prefix}", prefix, "{lowerprefix}", dir(c.Name),
		"{sha256-checksum}", c.Checksum).Replace(config.DL), nil
}
