import { Content, Item, Portal, Root, Separator, Trigger } from "@radix-ui/react-dropdown-menu";
import { Fragment, type ReactElement } from "react";

interface Choice {
  label: string;
  onSelect(): unknown;
  /** It is destructive: separated and coloured. */
  danger?: boolean;
}

/** A button that opens a menu of actions. */
export function Menu({ trigger, choices }: { trigger: ReactElement; choices: readonly (Choice | false)[] }) {
  return (
    <Root modal={false}>
      <Trigger asChild>{trigger}</Trigger>
      <Portal>
        <Content className="menu" align="end" sideOffset={4}>
          {choices
            .filter((choice) => choice !== false)
            .map(({ label, onSelect, danger }, at) => (
              <Fragment key={label}>
                {danger && at > 0 && <Separator className="menu-separator" />}
                <Item className={danger ? "menu-item danger" : "menu-item"} onSelect={() => void onSelect()}>
                  {label}
                </Item>
              </Fragment>
            ))}
        </Content>
      </Portal>
    </Root>
  );
}
