package entrance

import (
	"context"
	"fmt"

	"company/internal/api"
	officeapp "company/internal/app"
)

// AnnouncePage prints the link of a browser into an office that this process serves, where it
// has an address. The link is for one person: JSON names the address alone, and company open
// gives a link.
func (ent *Entrance) AnnouncePage(h *officeapp.App) error {
	switch con := ent.Console; {
	case h.Address() == "":
		return nil
	case con.Output == "json":
		con.PrintNote("the page is at %s; company open gives a link", h.Address())
		return nil
	}
	link, err := h.NewLink()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(ent.Console.Out, link.URL)
	ent.Console.PrintNote("the link above opens the page once, within ten minutes; company open gives another")
	return err
}

// OpenPage prints a fresh link into the office that another process serves, and has the
// person's browser open it. EConflict: that process has no address for browsers. ENotFound:
// no company is at work.
func (ent *Entrance) OpenPage(ctx context.Context, browser bool) error {
	conn, _, err := ent.ConnectOffice(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	link, err := conn.NewLink(ctx)
	if err != nil {
		return err
	}
	if ent.Console.Output == "json" {
		return ent.Console.PrintJSON(ent.Console.Out, struct {
			SchemaVersion int `json:"schema_version"`
			api.Link
		}{1, link})
	}
	if _, err = fmt.Fprintln(ent.Console.Out, link.URL); err == nil && browser {
		ent.Console.OpenBrowser(ctx, func() (string, error) {
			own, err := conn.NewOwnLink(ctx) // arguments of a program are seen by other users
			return own.URL, err
		})
	}
	return err
}
