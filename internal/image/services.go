package image

import (
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
	for _, in := range all {
		fill := fillFiles(in)
		if in.Runs() {
			fill = p.b.fillInstall(in, nil, nil)
		}
		p.appendTarStep(in.Layer, in.Why, fill, in.Inputs...)
	}
	return nil
}
