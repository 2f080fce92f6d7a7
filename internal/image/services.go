package image

import (
	"slices"

	"company/internal/ecosystem"
	"company/internal/service"
	"company/internal/toolproto"
)

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
