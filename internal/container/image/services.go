package image

import (
	"slices"
	"strings"

	"company/internal/container/service"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/toolbox/toolproto"
)

// addNeededPackages adds the Debian packages that the checks of a request or its services need. Their
// layer is above the compiled base and the project's packages, which do not change when a package is
// added. The layer is the difference to the base, so it contains the packages of lower layers again.
func (p *layerPlan) addNeededPackages(req Request, set toolSet) {
	var own []string
	for _, name := range slices.Concat(req.Packages, service.Packages(req.Services)) {
		if !slices.Contains(set.packages, name) && !slices.Contains(own, name) {
			own = append(own, name)
		}
	}
	if len(own) == 0 {
		return
	}
	all := catalog.DropRivals(slices.Concat(set.packages, own), func(kept, name string) {
		p.addNote("%s is not in the image, of which Debian installs one at a time with %s", name, kept)
	})
	slices.Sort(all)
	p.appendTarStep("debian", "Debian packages for the checks: "+strings.Join(own, " "),
		p.b.fillDebian(p.steps[0], all), all...)
}

// addServices adds the data of a request's services. The layers are above the set-up, because its
// commands may have added parts of a server. Build containers do not start the services.
func (p *layerPlan) addServices(req Request) error {
	if len(req.Services) == 0 {
		return nil
	}
	installs, err := service.Installs(req.Services, ecosystem.Places{Build: buildOut, Workspace: toolproto.Workspace})
	if err != nil {
		return err
	}
	hosts := service.Hosts(req.Services)
	for i, install := range installs {
		fill, inputs := fillFiles(install), slices.Clone(install.Inputs)
		if install.Runs() {
			fill = p.b.fillInstall(install, nil, nil)
		}
		if i == len(installs)-1 { // the layer with the list of services
			inputs = append(append(inputs, "\x00hosts"), hosts...)
		}
		p.appendTarStep(install.Layer, install.Why, fill, inputs...)
	}
	p.topStep().hosts = hosts
	return nil
}
