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

// Serve serves the files of the sparse index and the crates.
func (Ecosystem) Serve(ctx context.Context, request ecosystem.Request) (*ecosystem.Answer, error) {
	if request.Path == "config.json" {
		text, _ := json.Marshal(map[string]string{"dl": request.Base + "/crates/dl"})
		return &ecosystem.Answer{Text: text, Media: "application/json"}, nil
	}
	part := strings.Split(request.Path, "/")
	if len(part) == 4 && part[0] == "dl" && part[3] == "download" {
		return serveCrate(ctx, request, company.Dependency{Ecosystem: ecosystem.Crates, Name: part[1], Version: part[2]})
	}
	name := part[len(part)-1]
	dependency := company.Dependency{Ecosystem: ecosystem.Crates, Name: name}
	if checkName(dependency.Name, dependency.Version) != nil || request.Path != indexPath(name) {
		return nil, ecosystem.ErrNoPath
	}
	if err := request.Check(dependency); err != nil {
		return nil, err
	}
	text, crateVersions, err := readIndex(ctx, request, name)
	if err != nil {
		return nil, err
	}
	for _, crateVersion := range crateVersions {
		if dependency.Version = crateVersion.Version; request.Follows(dependency) {
			request.AllowNeeds(crateVersion.listDependencies(), nil)
		}
	}
	return &ecosystem.Answer{Text: text, Media: ecosystem.TextPlain}, nil
}

// serveCrate serves one crate.
func serveCrate(
	ctx context.Context, request ecosystem.Request, dependency company.Dependency,
) (*ecosystem.Answer, error) {
	if checkName(dependency.Name, dependency.Version) != nil {
		return nil, ecosystem.ErrNoPath
	}
	if !request.Allows(dependency) {
		return nil, request.Refuse(dependency, "")
	}
	crateVersion, err := findVersion(ctx, request, dependency)
	if err != nil {
		return nil, err
	}
	if crateVersion == nil {
		return nil, &ecosystem.Reply{Status: ecosystem.StatusNotFound,
			Line: "the registry does not list " + dependency.String()}
	}
	sum, err := hex.DecodeString(crateVersion.Checksum)
	if err != nil || len(sum) != 32 {
		return nil, &ecosystem.Reply{Status: ecosystem.StatusBadRegistry,
			Line: "the registry names no digest of " + dependency.String()}
	}
	address, err := crateURL(ctx, request, *crateVersion)
	if err != nil {
		return nil, err
	}
	return request.Package(ctx, dependency,
		ecosystem.Fetch{URL: address, Digest: ecosystem.Digest{Algorithm: "sha256", Sum: sum}},
		ecosystem.BinaryFile)
}

// ListVersions lists the versions of a crate.
func (Ecosystem) ListVersions(
	ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency,
) (all []string, newest string, err error) {
	_, list, err := readIndex(ctx, fetcher, dependency.Name)
	var whole []string
	for _, crateVersion := range list {
		if all = append(all, crateVersion.Version); !crateVersion.Yanked {
			whole = append(whole, "v"+crateVersion.Version)
		}
	}
	return all, strings.TrimPrefix(ecosystem.NewestSemver(whole), "v"), err
}

// ListNeeds lists the crates that a version depends on.
func (Ecosystem) ListNeeds(
	ctx context.Context, fetcher ecosystem.Fetcher, dependency company.Dependency,
) ([]company.Dependency, error) {
	crateVersion, err := findVersion(ctx, fetcher, dependency)
	if err != nil || crateVersion == nil {
		return nil, err
	}
	return crateVersion.listDependencies(), nil
}

// findVersion returns the index's entry for a version. It returns nil if the index does not list the
// version.
func findVersion(ctx context.Context, f ecosystem.Fetcher, dependency company.Dependency) (*crateVersion, error) {
	_, crateVersions, err := readIndex(ctx, f, dependency.Name)
	for _, c := range crateVersions {
		if c.Version == dependency.Version {
			return &c, nil
		}
	}
	return nil, err
}

// indexPath returns the path of a crate's file in the index.
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

// crateVersion is one line of a crate's index file.
type crateVersion struct {
	Name     string `json:"name"`
	Version  string `json:"vers"`
	Checksum string `json:"cksum"`
	Yanked   bool   `json:"yanked"`
	Deps     []struct {
		Name     string  `json:"name"`
		Package  string  `json:"package"` // the real name of a renamed crate
		Kind     string  `json:"kind"`
		Registry *string `json:"registry"` // set for a crate of another registry
	} `json:"deps"`
}

// listDependencies lists the crates that a version depends on, without dev dependencies.
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

// readIndex returns the index file of a crate, as text and parsed. It skips lines that it cannot parse,
// because they are meant for newer clients.
func readIndex(
	ctx context.Context, f ecosystem.Fetcher, name string,
) (text []byte, crateVersions []crateVersion, err error) {
	text, _, err = f.Read(ctx, ecosystem.Fetch{URL: f.Upstream().EndpointOf(name).URL + "/" + indexPath(name)})
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(text)) {
		var c crateVersion
		if json.Unmarshal([]byte(line), &c) == nil && c.Version != "" && ecosystem.CheckSemver(c.Version) == nil &&
			canonicalName(c.Name) == canonicalName(name) {
			crateVersions = append(crateVersions, c)
		}
	}
	return text, crateVersions, nil
}

// crateURL returns the address of a crate's file in the registry.
func crateURL(ctx context.Context, f ecosystem.Fetcher, c crateVersion) (string, error) {
	text, _, err := f.Read(ctx, ecosystem.Fetch{URL: f.Upstream().EndpointOf(c.Name).URL + "/config.json", Limit: 1 << 20})
	if err != nil {
		return "", err
	}
	var config struct {
		DL string `json:"dl"`
	}
	if err := json.Unmarshal(text, &config); err != nil || config.DL == "" {
		return "", errors.New("the crate index has no valid config.json")
	}
	if !strings.Contains(config.DL, "{") {
		return strings.TrimRight(config.DL, "/") + "/" + c.Name + "/" + c.Version + "/download", nil
	}
	dir := func(n string) string { p := indexPath(n); return p[:strings.LastIndexByte(p, '/')] }
	prefix := dir(c.Name)
	if len(c.Name) > 3 { // only {prefix} keeps capitals
		prefix = c.Name[:2] + "/" + c.Name[2:4]
	}
	return strings.NewReplacer("{crate}", c.Name, "{version}", c.Version, "{prefix}", prefix, "{lowerprefix}", dir(c.Name),
		"{sha256-checksum}", c.Checksum).Replace(config.DL), nil
}
