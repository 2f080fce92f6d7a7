package diagnose

import (
	"context"
	"slices"
	"strings"

	"company/internal/adapters"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/office"
	"company/internal/office/config"
)

// CheckImages rejects attached images if a model that may get them does not accept images. It
// checks the models of roles, their fallbacks, and the model for a stuck subtask.
func (d *Checker) CheckImages(
	ctx context.Context, paths office.Paths, loaded config.Loaded, files []company.AttachedFile,
) error {
	var images, blind []string
	for _, attachedFile := range files {
		if attachedFile.IsImage() {
			images = append(images, attachedFile.Name)
		}
	}
	if len(images) == 0 {
		return nil
	}
	used, first := usedProfiles(loaded.Config), ""
	for _, profile := range officeapp.ModelProfiles(loaded, paths.Root, d.envValue) {
		if used[profile.Name] && !officeapp.ModelDrivers.TakesImages(
			ctx, profile, officeapp.ModelDeps(loaded.Config, d.Logger)) {
			blind = append(blind, profile.Name+" ("+strings.TrimSpace(profile.Adapter+" "+profile.Model)+")")
			if first == "" {
				first = profile.Name
			}
		}
	}
	if len(blind) == 0 {
		return nil
	}
	fix := "choose a model that accepts images"
	if other := d.seeingProfile(ctx, paths, loaded); other != "" {
		fix += ": company submit --model " + other
	}
	return company.E(company.EUsage, "the models do not accept "+strings.Join(images, ", ")).
		Because("no image input: " + strings.Join(blind, ", ")).
		Fix(fix + "; or leave the image out; if the model does accept images, set models." + first + ".images: yes")
}

// seeingProfile returns a profile whose whole fallback chain accepts images, or "".
func (d *Checker) seeingProfile(ctx context.Context, paths office.Paths, loaded config.Loaded) string {
	takes := map[string]bool{}
	var names []string
	for _, profile := range officeapp.ModelProfiles(loaded, paths.Root, d.envValue) {
		if profile.Images != adapters.ImagesNo && profile.Adapter != "scripted" &&
			profile.Adapter != company.AdapterProgram {
			names = append(names, profile.Name)
			takes[profile.Name] = officeapp.ModelDrivers.TakesImages(ctx, profile, officeapp.ModelDeps(loaded.Config, d.Logger))
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(officeapp.FallbackChain(loaded.Config, name), func(n string) bool { return !takes[n] }) {
			return name
		}
	}
	return ""
}
