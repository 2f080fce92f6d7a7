package officeaccess

import (
	"context"

	"company/internal/api/client"
	"company/internal/company"
	"company/internal/present/view"
)

// Read connects to the office and calls get. The caller closes conn.
func Read[T any](
	ctx context.Context, ent *Entrance, get func(*client.Office, context.Context) (T, error),
) (v T, conn *client.Office, err error) {
	conn, _, err = ent.ConnectOffice(ctx)
	if err != nil {
		return v, nil, err
	}
	if v, err = get(conn, ctx); err != nil {
		conn.Close()
		return v, nil, err
	}
	return v, conn, nil
}

// ReadApproval connects to the office and reads a question. The caller closes the office.
func ReadApproval(ctx context.Context, ent *Entrance, id string) (view.Approval, *client.Office, error) {
	return Read(ctx, ent, func(o *client.Office, ctx context.Context) (view.Approval, error) {
		return o.Approval(ctx, company.ApprovalID(id))
	})
}
