import { useEffect } from "react";
import { useLocation } from "react-router";
import { visited } from "./recent.ts";

/** Records a visit to the current page, under its title as soon as that is known. */
export function useVisit(title: string): void {
  const { pathname: to } = useLocation();
  useEffect(() => visited({ to, title }), [to, title]);
}
