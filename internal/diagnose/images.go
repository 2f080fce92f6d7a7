package diagnose

import (
	"context"
	"slices"
	"strings"

	"company/internal/adapters"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/office"
)

// CheckImages refuses images with an instruction where a model that may be asked takes
// none: one of a role, one that a profile falls back to, or one for a subtask that is stuck.
func (d *Checker) CheckImages(ctx context.Context, p office.Paths, l config.Loaded, files []company.AttachedFile) error {
	var images, blind []string
	for _, f := range files {
		if f.IsImage() {
			images = append(images, f.Name)
		}
	}
	if len(images) == 0 {
		return nil
	}
	used, first := usedProfiles(l.Config), ""
	for _, profile := range officeapp.ModelProfiles(l, p.Root, d.envValue) {
		if used[profile.Name] && !officeapp.ModelDrivers.TakesImages(ctx, profile, officeapp.ModelDeps(l.Config, d.Logger)) {
			blind = append(blind, profile.Name+" ("+strings.TrimSpace(profile.Adapter+" "+profile.Model)+")")
			if first == "" {
				first = profile.Name
			}
		}
	}
	if len(blind) == 0 {
		return nil
	}
	fix := "choose a model that takes images"
	if other := d.seeingProfile(ctx, p, l); other != "" {
		fix += ": company submit --model " + other
	}
	return company.E(company.EUsage, "the models cannot be shown "+strings.Join(images, ", ")).
		Because("no images are taken by " + strings.Join(blind, ", ")).
		Fix(fix + "; or leave the image out; where the model does take images: models." + first + ".images: yes")
}

// seeingProfile is a profile of the config whose whole chain takes images; empty: none.
func (d *Checker) seeingProfile(ctx context.Context, p office.Paths, l config.Loaded) string {
	takes := map[string]bool{}
	var names []string
	for _, profile := range officeapp.ModelProfiles(l, p.Root, d.envValue) {
		if profile.Images != adapters.ImagesNo && profile.Adapter != "scripted" {
			names = append(names, profile.Name)
			takes[profile.Name] = officeapp.ModelDrivers.TakesImages(ctx, profile, officeapp.ModelDeps(l.Config, d.Logger))
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(officeapp.FallbackChain(l.Config, name), func(n string) bool { return !takes[n] }) {
			return name
		}
	}
	return ""
}
