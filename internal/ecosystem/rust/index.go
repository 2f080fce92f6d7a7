package rust

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
)

// Serve serves the sparse index and the crates.
func (Ecosystem) Serve(ctx context.Context, r ecosystem.Request) (*ecosystem.Answer, error) {
	if r.Path == "config.json" {
		text, _ := json.Marshal(map[string]string{"dl": r.Base + "/crates/dl"})
		return &ecosystem.Answer{Text: text, Media: "application/json"}, nil
	}
	part := strings.Split(r.Path, "/")
	if len(part) == 4 && part[0] == "dl" && part[3] == "download" {
		return serveCrate(ctx, r, company.Dependency{Ecosystem: ecosystem.Crates, Name: part[1], Version: part[2]})
	}
	name := part[len(part)-1]
	d := company.Dependency{Ecosystem: ecosystem.Crates, Name: name}
	if checkName(d.Name, d.Version) != nil || r.Path != indexPath(name) {
		return nil, ecosystem.ErrNoPath
	}
	if err := r.Check(d); err != nil {
		return nil, err
	}
	text, all, err := readIndex(ctx, r, name)
	if err != nil {
		return nil, err
	}
	for _, c := range all {
		if d.Version = c.Version; r.Follows(d) {
			r.AllowNeeds(c.listDependencies(), nil)
		}
	}
	return &ecosystem.Answer{Text: text, Media: ecosystem.TextPlain}, nil
}

// serveCrate serves one crate.
func serveCrate(ctx context.Context, r ecosystem.Request, d company.Dependency) (*ecosystem.Answer, error) {
	if checkName(d.Name, d.Version) != nil {
		return nil, ecosystem.ErrNoPath
	}
	if !r.Allows(d) {
		return nil, r.Refuse(d, "")
	}
	c, err := findVersion(ctx, r, d)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, &ecosystem.Reply{Status: ecosystem.StatusNotFound, Line: "the registry does not list " + d.String()}
	}
	sum, err := hex.DecodeString(c.Checksum)
	if err != nil || len(sum) != 32 {
		return nil, &ecosystem.Reply{Status: ecosystem.StatusBadRegistry, Line: "the registry names no digest of " + d.String()}
	}
	address, err := crateURL(ctx, r, *c)
	if err != nil {
		return nil, err
	}
	return r.Package(ctx, d, ecosystem.Fetch{URL: address, Digest: ecosystem.Digest{Algorithm: "sha256", Sum: sum}}, ecosystem.BinaryFile)
}

// ListVersions lists the versions of a crate.
func (Ecosystem) ListVersions(ctx context.Context, f ecosystem.Fetcher, d company.Dependency) (all []string, newest string, err error) {
	_, list, err := readIndex(ctx, f, d.Name)
	var whole []string
	for _, c := range list {
		if all = append(all, c.Version); !c.Yanked {
			whole = append(whole, "v"+c.Version)
		}
	}
	return all, strings.TrimPrefix(ecosystem.NewestSemver(whole), "v"), err
}

// ListNeeds lists the crates that a version asks for.
func (Ecosystem) ListNeeds(ctx context.Context, f ecosystem.Fetcher, d company.Dependency) ([]company.Dependency, error) {
	c, err := findVersion(ctx, f, d)
	if err != nil || c == nil {
		return nil, err
	}
	return c.listDependencies(), nil
}

// findVersion is what the index says of a version; nil: it does not list it.
func findVersion(ctx context.Context, f ecosystem.Fetcher, d company.Dependency) (*crateVersion, error) {
	_, all, err := readIndex(ctx, f, d.Name)
	for _, c := range all {
		if c.Version == d.Version {
			return &c, nil
		}
	}
	return nil, err
}

// indexPath is where the index keeps a crate.
func indexPath(name string) string {
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
			out = append(out, company.Dependency{Ecosystem: ecosystem.Crates, Name: name})
		}
	}
	return out
}

// readIndex is the index's file of a crate, as it is and read. Lines that are
// not understood are for newer clients.
func readIndex(ctx context.Context, f ecosystem.Fetcher, name string) (text []byte, all []crateVersion, err error) {
	text, _, err = f.Read(ctx, ecosystem.Fetch{URL: f.Upstream().EndpointOf(name).URL + "/" + indexPath(name)})
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(text)) {
		var c crateVersion
		if json.Unmarshal([]byte(line), &c) == nil && c.Version != "" && ecosystem.CheckSemver(c.Version) == nil && canonicalName(c.Name) == canonicalName(name) {
			all = append(all, c)
		}
	}
	return text, all, nil
}

// crateURL is where the registry has the file of a crate.
func crateURL(ctx context.Context, f ecosystem.Fetcher, c crateVersion) (string, error) {
	text, _, err := f.Read(ctx, ecosystem.Fetch{URL: f.Upstream().EndpointOf(c.Name).URL + "/config.json", Limit: 1 << 20})
	if err != nil {
		return "", err
	}
	var config struct {
		DL string `json:"dl"`
	}
	if err := json.Unmarshal(text, &config); err != nil || config.DL == "" {
		return "", errors.New("the index of crates has no config.json that can be read")
	}
	if !strings.Contains(config.DL, "{") {
		return strings.TrimRight(config.DL, "/") + "/" + c.Name + "/" + c.Version + "/download", nil
	}
	dir := func(n string) string { p := indexPath(n); return p[:strings.LastIndexByte(p, '/')] }
	prefix := dir(c.Name)
	if len(c.Name) > 3 { // the one form that keeps capitals
		prefix = c.Name[:2] + "/" + c.Name[2:4]
	}
	return strings.NewReplacer("{crate}", c.Name, "{version}", c.Version, "{prefix}", prefix, "{lowerprefix}", dir(c.Name),
		"{sha256-checksum}", c.Checksum).Replace(config.DL), nil
}
