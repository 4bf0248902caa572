import { Plus, Rss, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Feed } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useList } from "../../data/use-list.ts";
import { useSaving } from "../../data/use-task.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { useConfirmed } from "../../ui/confirm.tsx";
import { CodeArea, TextField } from "../../ui/field.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { Card, Empty } from "../../ui/page.tsx";
import { List } from "../../ui/table.tsx";
import { FilterText } from "../../ui/text.tsx";

/** The events that a channel receives. */
export function Feeds({ channel_id }: { channel_id: string }) {
  const [adding, setAdding] = useState(false);
  const list = useList(api.channels.listFeeds, { channel_id }, undefined, "channel");
  const remove = useConfirmed(({ id, event_type_glob }: Feed) => ({
    title: "Delete this feed?",
    text: (
      <>
        Members no longer receive events of <code>{event_type_glob}</code> through this channel. Existing
        deliveries are kept. This cannot be undone.
      </>
    ),
    action: "Delete feed",
    act: () => api.channels.deleteFeed({ channel_id, feed_id: id }),
    after: list.reload,
  }));
  const add = (
    <Button small icon={Plus} onClick={() => setAdding(true)}>
      Add feed
    </Button>
  );
  return (
    <Card title="Feeds" actions={add} flush>
      <List
        pages={list}
        label="Feeds"
        columns={[
          { name: "Event type", cell: (feed) => <code>{feed.event_type_glob}</code> },
          {
            name: "Filter",
            cell: (feed) => <FilterText filter={feed.filter_expression} />,
          },
          {
            name: "",
            end: true,
            cell: (feed) => (
              <IconButton
                icon={Trash2}
                label={`Delete feed ${feed.event_type_glob}`}
                onClick={() => remove.run(feed)}
              />
            ),
          },
        ]}
        empty={
          <Empty icon={Rss} title="No feeds yet">
            Add a feed to select the events of this channel.
          </Empty>
        }
      />
      {adding && <AddFeed channel_id={channel_id} onClose={() => setAdding(false)} onDone={list.reload} />}
    </Card>
  );
}

function AddFeed({ channel_id, onClose, onDone }: SavingProps & { channel_id: string }) {
  const [{ type, filter }, field] = useDraft({ type: "", filter: "" });
  const add = useSaving({ onClose, onDone }, () =>
    api.channels.createFeed({ channel_id, event_type_glob: type, filter_expression: filter || null }),
  );
  return (
    <FormDialog title="New feed" submit="Add feed" onClose={onClose} task={add}>
      <TextField
        label="Event type"
        required
        autoFocus
        className="code"
        placeholder="com.github.*"
        {...field("type")}
        hint="A glob: * matches any characters."
      />
      <CodeArea label="Filter (CEL)" rows={2} {...field("filter")} hint="Empty: every event of the type." />
    </FormDialog>
  );
}
