package rust

import (
	"maps"
	"path"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
)

var _ ecosystem.Relocker = Ecosystem{}

// toRelock keeps the versions that a lock file has.
const toRelock = "cargo update --workspace"

// Relocks reports whether a file is cargo's lock file.
func (Ecosystem) Relocks(name string) bool { return name == lockFile }

// Relock is a run of cargo for a lock file of a merge.
func (Ecosystem) Relock(s ecosystem.Sources, lock string) (r ecosystem.Resolution, ok bool, err error) {
	dir := path.Dir(lock)
	if !s.HasFile(lock) || !s.HasFile(path.Join(dir, manifest)) || !ecosystem.IsPlainPath(lock) || hasVendoredCrates(s, dir) {
		return r, false, nil
	}
	text, err := ecosystem.ReadText(s, lock)
	if err != nil {
		return r, false, err
	}
	manifests, err := readManifests(s)
	if err != nil {
		return r, false, err
	}
	if _, git := namesCrates(text); git != "" {
		return r, false, nil
	}
	r = ecosystem.Resolution{Lock: lock, Manifest: path.Join(dir, manifest), ToKeep: toRelock, Says: says}
	for _, name := range slices.Sorted(maps.Keys(manifests)) {
		w := parseManifest(manifests[name])
		if w.git != "" {
			return r, false, nil
		}
		for _, crate := range w.wants {
			r.Wants = append(r.Wants, company.Dependency{Ecosystem: ecosystem.Crates, Name: crate})
		}
		r.Stage = append(r.Stage, ecosystem.StagedFile{Path: name, Text: manifests[name]})
	}
	r.Stage = append(r.Stage, ecosystem.StagedFile{Path: lock, Text: text})
	r.Stage = append(append(r.Stage, stageNames(s, "")...), stageHome(s, cargoHome))
	r.Step = ecosystem.Step{
		Dir: ".", Command: "cp -r " + cargoHome + " /tmp/cargo && " + toRelock + " -q --manifest-path " + r.Manifest,
		Env:      map[string]string{"CARGO_HOME": "/tmp/cargo", "CARGO_NET_RETRY": "0", "CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS": "fallback"},
		Progress: "making " + lock + " anew for a merge", Failure: lock + " cannot be made anew by cargo",
		Fix: "run `" + toRelock + "` in a checkout of both sides, and commit it",
	}
	return r, true, nil
}
