package rust

import (
	"maps"
	"path"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
)

var _ ecosystem.Relocker = Ecosystem{}

// toRelock is the command that updates a lock file and keeps the versions that it has.
const toRelock = "cargo update --workspace"

// Relocks reports whether a file is cargo's lock file.
func (Ecosystem) Relocks(name string) bool { return name == lockFile }

// Relock returns a run of cargo that updates a lock file after a merge. It returns false where cargo cannot
// do so here: for vendored crates, for crates from git, and without a manifest.
func (Ecosystem) Relock(sources ecosystem.Sources, lock string) (resolution ecosystem.Resolution, ok bool, err error) {
	dir := path.Dir(lock)
	if !sources.HasFile(lock) || !sources.HasFile(path.Join(dir, manifest)) || !ecosystem.IsPlainPath(lock) ||
		hasVendoredCrates(sources, dir) {
		return resolution, false, nil
	}
	text, err := ecosystem.ReadText(sources, lock)
	if err != nil {
		return resolution, false, err
	}
	manifests, err := readManifests(sources)
	if err != nil {
		return resolution, false, err
	}
	if _, git := namesCrates(text); git != "" {
		return resolution, false, nil
	}
	resolution = ecosystem.Resolution{Lock: lock, Manifest: path.Join(dir, manifest), ToKeep: toRelock, Says: says}
	for _, name := range slices.Sorted(maps.Keys(manifests)) {
		wishes := parseManifest(manifests[name])
		if wishes.git != "" {
			return resolution, false, nil
		}
		for _, crate := range wishes.wants {
			resolution.Wants = append(resolution.Wants, company.Dependency{Ecosystem: ecosystem.Crates, Name: crate})
		}
		resolution.Stage = append(resolution.Stage, ecosystem.StagedFile{Path: name, Text: manifests[name]})
	}
	resolution.Stage = append(resolution.Stage, ecosystem.StagedFile{Path: lock, Text: text})
	resolution.Stage = append(append(resolution.Stage, stageNames(sources, "")...), stageHome(sources, cargoHome))
	resolution.Step = ecosystem.Step{
		Dir: ".", Command: "cp -r " + cargoHome + " /tmp/cargo && " + toRelock + " -q --manifest-path " + resolution.Manifest,
		Env: map[string]string{"CARGO_HOME": "/tmp/cargo", "CARGO_NET_RETRY": "0",
			"CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS": "fallback"},
		Progress: "making " + lock + " anew for a merge", Failure: lock + " cannot be made anew by cargo",
		Fix: "run `" + toRelock + "` in a checkout of both sides, and commit it",
	}
	return resolution, true, nil
}
