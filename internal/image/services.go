package image

import (
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/service"
	"company/internal/toolproto"
)

// addServicePackages adds the Debian packages of the services of a request. They lie above
// the compiled base and the project's packages, which stay as they are when a service is
// added. Their layer is the difference to the base, so it has the packages below once more.
func (p *layerPlan) addServicePackages(req Request, set toolSet) {
	var own []string
	for _, name := range service.Packages(req.Services) {
		if !slices.Contains(set.packages, name) {
			own = append(own, name)
		}
	}
	if len(own) == 0 {
		return
	}
	all := slices.Concat(set.packages, own)
	slices.Sort(all)
	p.appendTarStep("debian", "Debian packages of services: "+strings.Join(own, " "), p.b.fillDebian(p.steps[0], all), all...)
}

// addServices adds what the services of a request are started from. It lies above
// the set-up, whose commands may have added parts of a server; no container of a
// build starts them.
func (p *layerPlan) addServices(req Request) error {
	if len(req.Services) == 0 {
		return nil
	}
	all, err := service.Installs(req.Services, ecosystem.Places{Build: buildOut, Workspace: toolproto.Workspace})
	if err != nil {
		return err
	}
	hosts := service.Hosts(req.Services)
	for i, in := range all {
		fill, inputs := fillFiles(in), slices.Clone(in.Inputs)
		if in.Runs() {
			fill = p.b.fillInstall(in, nil, nil)
		}
		if i == len(all)-1 { // the list of them
			inputs = append(append(inputs, "\x00hosts"), hosts...)
		}
		p.appendTarStep(in.Layer, in.Why, fill, inputs...)
	}
	p.topStep().hosts = hosts
	return nil
}
